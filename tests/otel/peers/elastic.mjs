// SPDX-License-Identifier: MIT
// elastic.mjs - Elastic's OTLP server (@grpc/grpc-js and protobufjs), which
// takes gRPC and HTTP in plaintext; in front of each a server that ends TLS.
//
// usage: node elastic.mjs NODE_MODULES CERTIFICATE KEY
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {connect} from 'node:net';
import process from 'node:process';
import {createServer} from 'node:tls';
import {endWithParent, plain, tell} from './tell.mjs';

const [modules, certificate, key] = process.argv.slice(2);
const {MockOtlpServer} =
    createRequire(modules + '/')('@elastic/mockotlpserver');

function told(signal) {
    return (body) => tell({signal, body: plain(body)});
}

const server = new MockOtlpServer({
    log: {debug() {}, info() {}, warn: console.error, error: console.error},
    services: ['grpc', 'http'],
    grpcHostname: '127.0.0.1',
    grpcPort: 0,
    httpHostname: '127.0.0.1',
    httpPort: 0,
    onTrace: told('traces'),
    onMetrics: told('metrics'),
    onRequest: ({path, headers, metadata}) =>
        tell({path, headers: headers ?? metadata.getMap()}),
});

function endTls(protocol, port) {
    const front = createServer({
        cert: readFileSync(certificate),
        key: readFileSync(key),
        ALPNProtocols: [protocol],
    }, (outer) => {
        const inner = connect(port, '127.0.0.1');
        outer.pipe(inner).pipe(outer);
        outer.on('error', () => inner.destroy());
        inner.on('error', () => outer.destroy());
    });
    return new Promise((done) => front.listen(0, '127.0.0.1',
        () => done(front.address().port)));
}

endWithParent(120);
await server.start();
const grpc = Number(server.grpcUrl.port);
const http = Number(server.httpUrl.port);
tell({ports: {
    grpc, http,
    'grpc+tls': await endTls('h2', grpc),
    'http+tls': await endTls('http/1.1', http),
}});
