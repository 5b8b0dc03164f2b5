/* SPDX-License-Identifier: MIT */
/*
 * code.c - shaders: from the code in this library to pipelines.
 *
 * A pipeline is compiled by the driver when it is first needed. Each shader is
 * made to keep denormal numbers, zeros by sign, NaN and the rounding, as far as
 * the device can: that takes instructions at three positions of the code, which
 * are put in here, because code that requires what a device
 * does not have is not valid there.
 */
#include <stdlib.h>
#include <string.h>

#include "vulkan/device_parts.h"
#include "vulkan/shaders/variants.h"
#include "vulkan/spirv.inc"

struct code {
    const uint32_t *words;
    size_t count;
};

static const struct code codes[TAKT_SHADERS] = {
#define CODE(id, name) \
    [TAKT_SHADER_##    \
        id] = {name##_code, sizeof name##_code / sizeof name##_code[0]},
    TAKT_VULKAN_SHADERS(CODE)
#undef CODE
};

/* ---- float controls ------------------------------------------------------ */

/* Numbers of the SPIR-V specification. */
enum {
    HEADER_WORDS = 5,
    OP_EXTENSION = 10,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17
};

static const struct {
    uint32_t capability, mode;
} controls[] = {
    {4464, 4459}, /* DenormPreserve */
    {4466, 4461}, /* SignedZeroInfNanPreserve */
    {4467, 4462}, /* RoundingModeRTE */
};

enum { CONTROLS = sizeof controls / sizeof controls[0], MOST_WORDS = 32 };

struct writer {
    uint32_t *words;
    size_t count;
};

static void put(struct writer *to, const uint32_t *words, size_t count)
{
    memcpy(to->words + to->count, words, count * sizeof *words);
    to->count += count;
}

static void put_capabilities(struct writer *to, unsigned has)
{
    for (unsigned i = 0; i < CONTROLS; i++)
        if ((has >> i & 1) != 0)
            put(to,
                (uint32_t[]){2 << 16 | OP_CAPABILITY, controls[i].capability},
                2);
}

static void put_extension(struct writer *to)
{
    static const char name[24] = "SPV_KHR_float_controls";
    uint32_t words[7] = {7 << 16 | OP_EXTENSION};

    memcpy(words + 1, name, sizeof name);
    put(to, words, 7);
}

static void put_modes(struct writer *to, unsigned has, uint32_t entry)
{
    for (unsigned i = 0; i < CONTROLS; i++)
        if ((has >> i & 1) != 0)
            put(to,
                (uint32_t[]){4 << 16 | OP_EXECUTION_MODE, entry,
                             controls[i].mode, 32},
                4);
}

/* Instructions come in a prescribed order: capabilities, extensions, ...,
 * entry point, execution modes. */
static void add_controls(const struct code *code, unsigned has,
                         struct writer *to)
{
    uint32_t entry = 0;
    bool has_extension = false, has_modes = false;

    put(to, code->words, HEADER_WORDS);
    put_capabilities(to, has);
    for (size_t i = HEADER_WORDS; i < code->count;) {
        const uint32_t op = code->words[i] & 0xFFFF;
        const uint32_t length = code->words[i] >> 16;
        if (op != OP_CAPABILITY && !has_extension) {
            put_extension(to);
            has_extension = true;
        }
        if (op == OP_ENTRY_POINT)
            entry = code->words[i + 2];
        if (op == OP_EXECUTION_MODE && !has_modes) {
            put_modes(to, has, entry);
            has_modes = true;
        }
        put(to, code->words + i, length);
        i += length;
    }
}

static VkResult make_module(struct takt_vulkan *vulkan, const struct code *code,
                            VkShaderModule *out)
{
    struct writer to = {calloc(code->count + MOST_WORDS, sizeof *code->words),
                        0};

    if (to.words == NULL)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (vulkan->controls != 0)
        add_controls(code, vulkan->controls, &to);
    else
        put(&to, code->words, code->count);
    const VkShaderModuleCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = to.count * sizeof *to.words,
        .pCode = to.words,
    };
    const VkResult result =
        TAKT_VULKAN_CREATE(vulkan, ShaderModule, &wanted, out);
    free(to.words);
    return result;
}

/* ---- rows ---------------------------------------------------------------- */

/* Invocations for a row: one for each few elements (a guess). */
static const uint32_t lanes[] = {8, 32, GROUP};

struct takt_vulkan_lanes takt__vulkan_lanes(uint64_t rows, uint64_t cols)
{
    const unsigned choice = cols <= 32 ? 0 : cols <= 256 ? 1 : 2;
    const uint64_t at_once = GROUP / lanes[choice];

    return (struct takt_vulkan_lanes){ROWS_VARIANTS * choice,
                                      (rows + at_once - 1) / at_once};
}

/* ---- pipelines ----------------------------------------------------------- */

static VkResult make_pipeline(struct takt_vulkan *vulkan,
                              enum takt_shader shader, unsigned variant,
                              VkPipeline *out)
{
    const bool is_rows = shader == TAKT_SHADER_ROWS;
    const uint32_t constants[] = {is_rows ? variant % ROWS_VARIANTS : variant,
                                  is_rows ? lanes[variant / ROWS_VARIANTS] : 0};
    const VkSpecializationMapEntry entries[] = {
        {0, 0, sizeof constants[0]},
        {1, sizeof constants[0], sizeof constants[1]}};
    const VkSpecializationInfo chosen = {is_rows ? 2 : 1, entries,
                                         sizeof constants, constants};
    const VkComputePipelineCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = vulkan->modules[shader],
                  .pName = "main",
                  .pSpecializationInfo = &chosen},
        .layout = vulkan->layout,
    };
    const VkResult result = vulkan->api.CreateComputePipelines(
        vulkan->device, vulkan->cache, 1, &wanted, NULL, out);

    return takt__vulkan_created(result, out, sizeof *out);
}

VkPipeline takt__vulkan_pipeline(struct takt_vulkan *vulkan,
                                 enum takt_shader shader, unsigned variant)
{
    VkPipeline *pipeline = &vulkan->pipelines[shader][variant];
    VkResult result = VK_SUCCESS;

    if (*pipeline != VK_NULL_HANDLE)
        return *pipeline;
    if (vulkan->modules[shader] == VK_NULL_HANDLE)
        result = make_module(vulkan, &codes[shader], &vulkan->modules[shader]);
    if (result == VK_SUCCESS)
        result = make_pipeline(vulkan, shader, variant, pipeline);
    takt__vulkan_status(vulkan, result, TAKT_ENODEV);
    return *pipeline;
}

static VkResult make_set_layout(struct takt_vulkan *vulkan)
{
    VkDescriptorSetLayoutBinding bindings[TAKT_VULKAN_BINDINGS];
    const VkDescriptorSetLayoutCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = TAKT_VULKAN_BINDINGS,
        .pBindings = bindings,
    };

    for (uint32_t i = 0; i < TAKT_VULKAN_BINDINGS; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .descriptorCount = 1,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
        };
    return TAKT_VULKAN_CREATE(vulkan, DescriptorSetLayout, &wanted,
                              &vulkan->set_layout);
}

static VkResult make_layout(struct takt_vulkan *vulkan)
{
    const VkPushConstantRange parameters = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                            TAKT_VULKAN_PARAMETERS *
                                                sizeof(uint32_t)};
    const VkPipelineLayoutCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &vulkan->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &parameters,
    };

    return TAKT_VULKAN_CREATE(vulkan, PipelineLayout, &wanted, &vulkan->layout);
}

takt_status takt__vulkan_code_make(struct takt_vulkan *vulkan)
{
    const VkPipelineCacheCreateInfo cache = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkResult result = make_set_layout(vulkan);

    if (result == VK_SUCCESS)
        result = make_layout(vulkan);
    if (result == VK_SUCCESS) /* pipelines can be made without it too */
        (void)TAKT_VULKAN_CREATE(vulkan, PipelineCache, &cache, &vulkan->cache);
    return takt__vulkan_status(vulkan, result, TAKT_ENODEV);
}

void takt__vulkan_code_end(struct takt_vulkan *vulkan)
{
    for (int i = 0; i < TAKT_SHADERS; i++) {
        for (int k = 0; k < TAKT_VULKAN_VARIANTS; k++)
            vulkan->api.DestroyPipeline(vulkan->device, vulkan->pipelines[i][k],
                                        NULL);
        vulkan->api.DestroyShaderModule(vulkan->device, vulkan->modules[i],
                                        NULL);
    }
    vulkan->api.DestroyPipelineCache(vulkan->device, vulkan->cache, NULL);
    vulkan->api.DestroyPipelineLayout(vulkan->device, vulkan->layout, NULL);
    vulkan->api.DestroyDescriptorSetLayout(vulkan->device, vulkan->set_layout,
                                           NULL);
}
