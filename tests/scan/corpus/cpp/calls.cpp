// SPDX-License-Identifier: MIT
// Calls by name, of BLAS and of functions and methods.
#include <cblas.h>
#include <torch/torch.h>
#include <vector>

constexpr int kRows = 1024;

namespace blas
{
void gemm(int m, int n, int k, const float *a, const float *b, float *c); //~!
}

void project(const std::vector<float> &a, const std::vector<float> &b, std::vector<float> &c)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kRows, kRows, 256, 1.0f, a.data(), 256, b.data(), 256, 0.0f, c.data(), kRows); //~ matmul 1024x1024x256 f32
    blas::gemm(kRows, kRows, 256, a.data(), b.data(), c.data()); //~ matmul
    ::cblas_saxpy(kRows, 0.1f, a.data(), 1, c.data(), 1); //~ axpy
}

double norm(const std::vector<double> &v)
{
    return cblas_dnrm2(static_cast<int>(v.size()), v.data(), 1); //~ norm2
}

torch::Tensor forward(const torch::Tensor &x, const torch::Tensor &w, const torch::Tensor &k)
{
    auto h = torch::matmul(x, w); //~ matmul
    h = torch::relu(h);           //~ relu
    h = torch::conv2d(h, k);      //~ conv2d
    h = x.matmul(w);              //~ matmul
    return torch::softmax(h, -1); //~ softmax
}

template <typename T> void matmul(const T *a, const T *b, T *c, int n); //~!

void templated(const float *a, const float *b, float *c)
{
    matmul<float>(a, b, c, 64); //~ matmul
}

class Layer
{
  public:
    void conv2d(const float *in, const float *kernel, float *out); //~!
    void run(const float *in, float *out)
    {
        conv2d(in, weights_, out); //~ conv2d
    }

  private:
    const float *weights_;
};

void use(Layer &layer, const float *in, const float *k, float *out)
{
    layer.conv2d(in, k, out); //~ conv2d
}

// ---- not these ----------------------------------------------------------

struct Conv2d {
    Conv2d(int in, int out, int size); //~!
};

Conv2d first(3, 64, 3); //~!

Conv2d make()
{
    return Conv2d(3, 64, 3); //~!
}

struct Parser {
    int matmul(const std::string &text); //~!
    std::string gemm() const; //~!
};

int parse(Parser &p)
{
    p.gemm(); //~!
    return p.matmul("a @ b"); //~!
}

enum class Kind { matmul, softmax }; //~!

Kind kind()
{
    return Kind::matmul; //~!
}

void registered(Registry &r)
{
    r.add("matmul", &blas::gemm); //~!
    REGISTER_OP(matmul); //~!
}

auto pointer = &cblas_sgemm; //~!

int shadow()
{
    auto matmul = [](int a, int b) { return a * b; }; //~!
    return matmul(2, 3); //~!
}

void softmax_name(std::ostream &out)
{
    out << "softmax(x)" << '\n'; //~!
}

#define CALL_GEMM(...) blas::gemm(__VA_ARGS__) //~!

/* torch::matmul(a, b) //~! */
// cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1); //~!

static_assert(sizeof(&cblas_sgemm) == sizeof(void *), "matmul(a, b)"); //~!

void logged(int n)
{
    LOG(INFO) << "gemm(" << n << ")"; //~!
    timer_start("cblas_sgemm(", n); //~!
}
