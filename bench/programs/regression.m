% SPDX-License-Identifier: MIT
% Products, least squares and singular values. usage: regression.m [FACTOR]
words = argv();
factor = 1;
if numel(words) > 0
  factor = str2double(words{1});
end
rand("twister", 14);
x = rand(3000, 250) - 0.5;
y = x * rand(250, 1);
total = 0;
for i = 1:max(1, round(220 * factor))
  rows = mod((1:3000) * (2 * i + 1), 7) > 0;
  part = x(rows, :);
  gram = part' * part;
  found = (gram + i * eye(250)) \ (part' * y(rows));
  total += norm(x * found - y) + sum(svd(gram * gram)) ^ 0.5;
end
printf("%.6e\n", total);
