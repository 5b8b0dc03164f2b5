/* SPDX-License-Identifier: MIT */
/* test_framework.c - the framework tables and what they recommend. */
#include "takt/framework.h"

#include "support/tap.h"

static const takt_framework_op *find(const char *name)
{
    const takt_framework_op *row;
    return takt_framework_find(name, &row) == TAKT_OK ? row : NULL;
}

/* Every row of the design's section 6, as "framework.Name" in its group. */
static void the_rows_of_the_design_have_their_complexity(void)
{
    static const char *const rows[3][32] = {
        {"numpy.Array",
         "numpy.zeros",
         "numpy.ones",
         "numpy.Add",
         "numpy.Subtract",
         "numpy.Multiply",
         "numpy.Divide",
         "numpy.Reshape",
         "numpy.Transpose",
         "sklearn.StandardScaler",
         "sklearn.MinMaxScaler",
         "sklearn.LabelEncoder",
         "sklearn.TrainTestSplit",
         "torch.TensorCreation",
         "torch.TensorReshape",
         "torch.TensorSlice",
         "torch.NoGrad",
         "torch.Eval",
         "torch.Encode",
         "torch.Decode"},
        {"numpy.Sum",
         "numpy.Mean",
         "numpy.Max",
         "numpy.Min",
         "sklearn.LinearRegression",
         "sklearn.Ridge",
         "sklearn.Lasso",
         "sklearn.LogisticRegression",
         "sklearn.Accuracy",
         "sklearn.Precision",
         "sklearn.Recall",
         "sklearn.F1Score",
         "sklearn.MeanSquaredError",
         "sklearn.R2Score",
         "torch.Linear",
         "torch.Embedding",
         "torch.LayerNorm",
         "torch.ReLU",
         "torch.GELU",
         "torch.Softmax",
         "torch.LoadModel",
         "torch.SaveModel",
         "torch.LoadTokenizer"},
        {"numpy.Dot", "numpy.dot", "numpy.matmul", "numpy.@", "sklearn.KMeans",
         "sklearn.DBSCAN", "sklearn.DecisionTreeClassifier",
         "sklearn.DecisionTreeRegressor", "sklearn.RandomForestClassifier",
         "sklearn.RandomForestRegressor", "sklearn.CrossValidation",
         "torch.Forward", "torch.Generate", "torch.Predict", "torch.Attention"},
    };

    for (int complexity = 0; complexity < 3; complexity++)
        for (size_t i = 0; rows[complexity][i] != NULL; i++) {
            const takt_framework_op *row = find(rows[complexity][i]);
            TAP_CHECK(row != NULL && (int)row->complexity == complexity,
                      "%s is missing or not %d", rows[complexity][i],
                      complexity);
        }
}

static void every_row_is_sound(void)
{
    for (size_t i = 0; i < takt_framework_op_count(); i++) {
        const takt_framework_op *row = takt_framework_op_at(i);
        TAP_CHECK(row->op == NULL || takt_op_find(row->op) != NULL,
                  "%s names op %s", row->name, row->op);
        EXPECT(row->module[0] != '\0' && row->functions[0] != '\0');
        EXPECT(row->call == NULL || row->op != NULL);
    }
    EXPECT(takt_framework_op_at(takt_framework_op_count()) == NULL);
}

static void no_name_of_a_framework_is_ambiguous(void)
{
    for (size_t i = 0; i < takt_framework_op_count(); i++) {
        static const char *const prefix[] = {"numpy", "sklearn", "torch"};
        const takt_framework_op *row = takt_framework_op_at(i);
        for (const char *at = row->functions; *at != '\0';) {
            char dotted[128];
            const size_t length = strcspn(at, " ");
            snprintf(dotted, sizeof dotted, "%s.%.*s", prefix[row->framework],
                     (int)length, at);
            TAP_CHECK(find(dotted) == row, "%s finds another row", dotted);
            at += length;
            at += *at == ' ';
        }
    }
}

static void names_are_found_as_people_write_them(void)
{
    EXPECT_STR(find("np.add")->name, "Add");
    EXPECT_STR(find("NUMPY.ADD")->name, "Add");
    EXPECT_STR(find("numpy.linalg.norm")->op, "norm2");
    EXPECT_STR(find("torch.nn.functional.softmax")->name, "Softmax");
    EXPECT_STR(find("F.conv2d")->call, "takt_conv2d_f32");
    EXPECT_STR(find("scikit-learn.kmeans")->name, "KMeans");
    EXPECT_STR(find("sklearn.metrics.accuracy_score")->name, "Accuracy");
    EXPECT(find("numpy") == NULL);
    EXPECT(find("numpy.") == NULL);
    EXPECT(find(".add") == NULL);
    EXPECT(find("jax.add") == NULL);
    EXPECT(find("numpy.add subtract") == NULL);
    EXPECT(find(NULL) == NULL);
}

static void a_mistyped_name_finds_the_one_meant(void)
{
    char near[64];

    EXPECT_INT(takt_framework_nearest("numpy.ad", near, sizeof near), 1);
    EXPECT_STR(near, "numpy.Add");
    EXPECT_INT(takt_framework_nearest("sklaern.KMeans", near, sizeof near), 1);
    EXPECT_STR(near, "sklearn.KMeans");
    EXPECT_INT(takt_framework_nearest("torch.Lineer", near, sizeof near), 1);
    EXPECT_STR(near, "torch.Linear");
    EXPECT_INT(takt_framework_nearest("numpy.qqqqqqq", near, sizeof near), 0);
    EXPECT_STR(near, "");
    EXPECT_INT(takt_framework_nearest("add", near, sizeof near), 0);
    EXPECT_INT(takt_framework_nearest("torch.Lineer", near, 4), 1);
    EXPECT_STR(near, "tor");
}

static void recommendations_follow_the_moe_rule(void)
{
    static const struct {
        const char *name;
        size_t n;
        int want;
    } rows[] = {
        {"numpy.add", 2000000, TAKT_BACKEND_SIMD},
        {"numpy.add", 1000000, TAKT_BACKEND_SCALAR},
        {"sklearn.KMeans", 100000, TAKT_BACKEND_GPU},
        {"sklearn.KMeans", 10000, TAKT_BACKEND_SIMD},
        {"torch.Linear", 50000, TAKT_BACKEND_SIMD},
        {"torch.Linear", 100001, TAKT_BACKEND_GPU},
        {"torch.Attention", 0, TAKT_BACKEND_SCALAR},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_INT(takt_framework_recommend(find(rows[i].name), rows[i].n),
                   rows[i].want);
}

int main(void)
{
    RUN(the_rows_of_the_design_have_their_complexity);
    RUN(every_row_is_sound);
    RUN(no_name_of_a_framework_is_ambiguous);
    RUN(names_are_found_as_people_write_them);
    RUN(a_mistyped_name_finds_the_one_meant);
    RUN(recommendations_follow_the_moe_rule);
    return tap_done();
}
