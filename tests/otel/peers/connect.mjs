// SPDX-License-Identifier: MIT
// connect.mjs - a receiver that shares nothing with Elastic's: the gRPC server
// is Connect's, on node's own HTTP/2, and messages are read by protobuf-es from
// descriptors that protoc made. Takes gRPC and HTTP, each with and without TLS,
// and gzip in all of them; fields that the descriptors do not have are told.
//
// usage: node connect.mjs NODE_MODULES CERTIFICATE KEY DESCRIPTORS
import {readFileSync} from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import {createRequire} from 'node:module';
import process from 'node:process';
import {gunzipSync} from 'node:zlib';
import {endWithParent, plain, tell} from './tell.mjs';

const [modules, certificate, key, descriptors] = process.argv.slice(2);
const require = createRequire(modules + '/');
const {createFileRegistry, fromBinary, toJson} = require('@bufbuild/protobuf');
const {FileDescriptorSetSchema} = require('@bufbuild/protobuf/wkt');
const {connectNodeAdapter} = require('@connectrpc/connect-node');

const registry = createFileRegistry(
    fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
const tls = {cert: readFileSync(certificate), key: readFileSync(key)};

function service(signal) {
    const [folder, name] = signal === 'traces' ? ['trace', 'TraceService'] :
        ['metrics', 'MetricsService'];
    return registry.getService(
        `opentelemetry.proto.collector.${folder}.v1.${name}`);
}

function unknownFields(message) {
    if (message === null || typeof message !== 'object' ||
        message instanceof Uint8Array)
        return 0;
    return (message.$unknown?.length ?? 0) + Object.values(message)
        .reduce((sum, inner) => sum + unknownFields(inner), 0);
}

// The JSON form has ids in base64.
function withHexIds(key, value) {
    return ['traceId', 'spanId', 'parentSpanId'].includes(key) ?
        Buffer.from(value, 'base64').toString('hex') : value;
}

function told(signal, message, path, headers) {
    const body = toJson(service(signal).method.export.input, message,
        {enumAsInteger: true, registry});
    tell({path, headers});
    tell({
        signal,
        unknown: unknownFields(message),
        body: JSON.parse(JSON.stringify(plain(body), withHexIds)),
    });
}

const grpc = connectNodeAdapter({
    connect: false,
    grpcWeb: false,
    routes(router) {
        for (const signal of ['traces', 'metrics'])
            router.service(service(signal), {
                export(message, context) {
                    told(signal, message, context.url,
                        Object.fromEntries(context.requestHeader));
                    return {};
                },
            });
    },
});

async function overHttp(request, response) {
    const signal = request.url.slice('/v1/'.length);
    const chunks = [];
    for await (const chunk of request)
        chunks.push(chunk);
    let bytes = Buffer.concat(chunks);
    if (request.headers['content-encoding'] === 'gzip')
        bytes = gunzipSync(bytes);
    const schema = service(signal).method.export.input;
    told(signal, fromBinary(schema, bytes), request.url, request.headers);
    response.writeHead(200, {'content-type': 'application/x-protobuf'});
    response.end();
}

function port(server) {
    return new Promise((done) => server.listen(0, '127.0.0.1',
        () => done(server.address().port)));
}

endWithParent(120);
tell({ports: {
    grpc: await port(http2.createServer(grpc)),
    http: await port(http.createServer(overHttp)),
    'grpc+tls': await port(http2.createSecureServer(tls, grpc)),
    'http+tls': await port(https.createServer(tls, overHttp)),
}});
