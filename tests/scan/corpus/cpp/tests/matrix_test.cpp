// SPDX-License-Identifier: MIT
// Test code is reported apart, but reported.
#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <numeric>
#include <vector>

TEST(Matrix, Product)
{
    Eigen::MatrixXf a(4, 4), b(4, 4);
    Eigen::MatrixXf c = a * b; //~ matmul test
    EXPECT_EQ(c.rows(), 4); //~!
    EXPECT_STREQ("a * b", name()); //~!
}

TEST_F(Sums, Total)
{
    std::vector<float> v(16, 1.0f);
    EXPECT_FLOAT_EQ(16.0f, std::accumulate(v.begin(), v.end(), 0.0f)); //~ sum test
    for (size_t i = 0; i < v.size(); i++) //~!
        EXPECT_EQ(v[i], 1.0f);
}

TEST_CASE("dot of vectors", "[dot]") //~!
{
    std::vector<double> a(8), b(8);
    double s = 0;
    for (int i = 0; i < 8; i++) //~ dot test
        s += a[i] * b[i];
    REQUIRE(s == 0);
}
