// SPDX-License-Identifier: MIT
// Holds a report in SARIF from standard input against the schema of the
// standard, and prints what is wrong with it as a list in JSON.
//
// usage: validate.cjs NODE_MODULES
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const packages = path.resolve(process.argv[2]);
const load = (name) => require(path.join(packages, name));
const Ajv = load("ajv/dist/2020").default;
const addFormats = load("ajv-formats").default;

const schema = JSON.parse(fs.readFileSync(path.join(packages,
    "@microsoft/sarif-multitool-linux/sarif-2.1.0.json"), "utf8"));
// Not strict about the schema, which is theirs: it has a default here and there
// that does nothing.
const ajv = new Ajv({ allErrors: true, strict: false });
addFormats(ajv);
const validate = ajv.compile(schema);
validate(JSON.parse(fs.readFileSync(0, "utf8")));
process.stdout.write(JSON.stringify(validate.errors ?? []));
