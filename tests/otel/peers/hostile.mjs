// SPDX-License-Identifier: MIT
// hostile.mjs - collectors that answer as they are told to, many at a time.
//
// Each line on stdin starts one, on a port of its own that is told:
//     {"id": "a", "serve": "grpc", "script": [{"status": 14}, {"ok": true}]}
// (or on "port").
// "serve" is "grpc" (HTTP/2), "http" (HTTP/1) or "raw" (just TCP); with "tls"
// ({"cert", "key", "ca"}: files) it speaks TLS, and wants a certificate of that
// authority if there is one. Each request is told, and gets the next answer of
// the script; the last one is for all that follow. {"question": 1} is answered
// after all that was told before.
import {randomBytes} from 'node:crypto';
import {readFileSync} from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import readline from 'node:readline';
import process from 'node:process';
import {gunzipSync} from 'node:zlib';
import {endWithParent, tell} from './tell.mjs';

const HTML = '<!DOCTYPE html><html><body>Please log in.</body></html>';
const FOREVER = Buffer.alloc(1 << 16, 'x');
const GIANT = 'x'.repeat(1 << 10);

// ---- just enough protobuf

function varint(number) {
    const bytes = [];
    for (; number > 127; number = Math.floor(number / 128))
        bytes.push(number % 128 | 128);
    return Buffer.from([...bytes, number]);
}

function field(number, value) {
    return Buffer.isBuffer(value) ?
        Buffer.concat([varint(number * 8 + 2), varint(value.length), value]) :
        Buffer.concat([varint(number * 8), varint(value)]);
}

// An int64 in two's complement.
function signed(number) {
    const bytes = [];
    let left = BigInt.asUintN(64, BigInt(number));
    for (; left > 127n; left >>= 7n)
        bytes.push(Number(left & 127n) | 128);
    return Buffer.from([...bytes, Number(left)]);
}

// The parts of a message that have this number. Only length-delimited fields
// are met on the way to the spans.
function* fields(bytes, wanted) {
    for (let at = 0; at < bytes.length;) {
        const number = bytes[at++] >> 3;
        let size = 0;
        for (let shift = 1; ; shift *= 128) {
            if (at >= bytes.length)
                throw new Error('the message is cut off');
            size += (bytes[at] & 127) * shift;
            if (bytes[at++] < 128)
                break;
        }
        if (number === wanted)
            yield bytes.subarray(at, at + size);
        at += size;
    }
}

function countSpans(bytes) {
    let count = 0;
    for (const resource of fields(bytes, 1))
        for (const scope of fields(resource, 2))
            count += [...fields(scope, 2)].length;
    return count;
}

function partialSuccess({rejected, message}) {
    return field(1, Buffer.concat(
        [varint(8), signed(rejected), field(2, Buffer.from(message))]));
}

// google.rpc.Status with a google.rpc.RetryInfo.
function retryDetails(code, seconds) {
    const whole = Math.floor(seconds);
    const delay = Buffer.concat(
        [field(1, whole), field(2, Math.round((seconds - whole) * 1e9))]);
    const any = Buffer.concat([
        field(1, Buffer.from('type.googleapis.com/google.rpc.RetryInfo')),
        field(2, field(1, delay)),
    ]);
    return Buffer.concat([field(1, code), field(2, Buffer.from('later')),
        field(3, any)]).toString('base64').replace(/=+$/, '');
}

function grpcFrame(bytes) {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(bytes.length, 1);
    return Buffer.concat([prefix, bytes]);
}

// ---- what was asked

function readGrpc(bytes) {
    const message = bytes.subarray(5);
    if (bytes.readUInt32BE(1) !== message.length)
        throw new Error('the frame is not what it says');
    return bytes[0] === 1 ? gunzipSync(message) : message;
}

function readHttp(bytes, headers) {
    return headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
}

async function received(collector, stream, path, headers, read) {
    const chunks = [];
    for await (const chunk of stream)
        chunks.push(chunk);
    const bytes = read(Buffer.concat(chunks), headers);
    tell({id: collector.id, request: {
        path, headers,
        bytes: bytes.length,
        at_ms: Date.now(),
        spans: path.toLowerCase().includes('trace') ? countSpans(bytes) : 0,
    }});
}

function next(collector) {
    const {script} = collector;
    return script.length > 1 ? script.shift() : script[0];
}

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

async function writeForever(out) {
    for (; !out.destroyed && !out.closed; await wait(5))
        if (out.writableLength < FOREVER.length)
            out.write(FOREVER);
}

// ---- answers

// HTTP/2 does not hand out its sockets, so they are found by their other end.
// "end": once all is written; "reset": at once.
function hangUp(collector, port, how = 'end') {
    const socket = collector.sockets.get(port);
    if (how === 'end')
        socket.end();
    else
        socket.resetAndDestroy();
}

// Status and message come in trailers, as after a body, or in the headers.
function endGrpc(stream, body, trailers, isShort, more) {
    const headers =
        {':status': 200, 'content-type': 'application/grpc', ...more};
    if (isShort) {
        stream.respond({...headers, ...trailers}, {endStream: true});
        return;
    }
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond(headers, {waitForTrailers: true});
    stream.end(body);
}

const FRAMES = {
    truncated: Buffer.concat([Buffer.from([0, 0, 0, 0, 100]), randomBytes(9)]),
    huge: Buffer.concat([Buffer.from([0, 255, 255, 255, 255]), randomBytes(9)]),
    compressed: Buffer.concat([Buffer.from([1, 0, 0, 0, 9]), randomBytes(9)]),
    garbage: grpcFrame(randomBytes(100)),
};

function grpcStatus(stream, answer) {
    const trailers = {'grpc-status': String(answer.status)};
    if (answer.message !== undefined)
        trailers['grpc-message'] = answer.message;
    if (answer.retry_s !== undefined)
        trailers['grpc-status-details-bin'] =
            retryDetails(answer.status, answer.retry_s);
    endGrpc(stream, '', trailers, answer.short);
}

async function answerGrpc(collector, stream, answer) {
    const ok = {'grpc-status': '0'};
    await wait(answer.delay_ms ?? 0);
    if (stream.destroyed)
        return;
    if (answer.status !== undefined)
        grpcStatus(stream, answer);
    else if (answer.http_status !== undefined)
        stream.respond({':status': answer.http_status}, {endStream: true});
    else if (answer.partial)
        endGrpc(stream, grpcFrame(partialSuccess(answer.partial)), ok);
    else if (answer.frame)
        endGrpc(stream, FRAMES[answer.frame], ok);
    else if (answer.html) {
        stream.respond({':status': 200, 'content-type': 'text/html'});
        stream.end(HTML);
    } else if (answer.endless) {
        stream.respond({':status': 200, 'content-type': 'application/grpc'});
        await writeForever(stream);
    } else if (answer.giant) {
        const more = {};
        for (let i = 0; i < answer.giant; i++)
            more['x-' + i] = GIANT;
        endGrpc(stream, grpcFrame(Buffer.alloc(0)), ok, false, more);
    } else if (answer.cut) {
        const {remotePort} = stream.session.socket;
        stream.respond({':status': 200, 'content-type': 'application/grpc'});
        stream.write(grpcFrame(Buffer.alloc(0)));
        await wait(50);
        hangUp(collector, remotePort, answer.cut);
    } else if (answer.reset !== undefined)
        stream.close(answer.reset);
    else if (answer.goaway)
        stream.session.goaway(answer.goaway), stream.session.destroy();
    else if (answer.ok) {
        const {remotePort} = stream.session.socket;
        endGrpc(stream, grpcFrame(Buffer.alloc(0)), ok);
        if (answer.hangup)
            stream.once('close', () => hangUp(collector, remotePort));
    }
}

async function answerHttp(response, answer) {
    await wait(answer.delay_ms ?? 0);
    const headers = {'content-type': 'application/x-protobuf'};
    if (answer.retry_after !== undefined)
        headers['retry-after'] = answer.retry_after;
    if (answer.retry_at_s !== undefined)
        headers['retry-after'] =
            new Date(Date.now() + answer.retry_at_s * 1000).toUTCString();
    if (answer.location !== undefined)
        headers.location = answer.location;
    if (answer.http_status !== undefined) {
        response.writeHead(answer.http_status, headers);
        response.end('no');
    } else if (answer.partial) {
        response.writeHead(200, headers);
        response.end(partialSuccess(answer.partial));
    } else if (answer.html) {
        response.writeHead(200, {'content-type': 'text/html'});
        response.end(HTML);
    } else if (answer.garbage) {
        response.writeHead(200, headers);
        response.end(randomBytes(100));
    } else if (answer.endless) {
        response.writeHead(200, headers);
        await writeForever(response);
    } else if (answer.giant) {
        response.socket.write('HTTP/1.1 200 OK\r\n');
        await writeForever(response.socket);
    } else if (answer.ok) {
        const {socket} = response;
        response.writeHead(200, headers);
        response.end(() => answer.hangup && socket.destroy());
    }
}

// ---- collectors

// What is cut off in the middle is cut off as soon as some of it is here.
function dieOnData(collector, stream, port) {
    stream.once('data', () => {
        tell({id: collector.id, died: true});
        collector.sockets.get(port).destroy();
    });
    stream.on('error', () => {});
}

function onStream(collector, stream, headers) {
    const answer = next(collector);
    stream.on('error', () => {});
    if (answer.die)
        return dieOnData(collector, stream,
            stream.session.socket.remotePort);
    received(collector, stream, headers[':path'], headers, readGrpc)
        .then(() => answerGrpc(collector, stream, answer))
        .catch((error) => tell({id: collector.id, error: String(error)}));
}

function onRequest(collector, request, response) {
    const answer = next(collector);
    response.on('error', () => {});
    if (answer.die)
        return dieOnData(collector, request, request.socket.remotePort);
    received(collector, request, request.url, request.headers, readHttp)
        .then(() => answerHttp(response, answer))
        .catch((error) => tell({id: collector.id, error: String(error)}));
}

async function onSocket(collector, socket) {
    const answer = next(collector);
    socket.on('error', () => {});
    socket.resume();
    if (answer.garbage)
        socket.end(randomBytes(4096));
    else if (answer.close)
        socket.destroy();
    else if (answer.text)
        socket.end(answer.text);
    else if (answer.drip) // a header that never ends, a byte at a time
        for (socket.write('HTTP/1.1 200 OK\r\nx: '); !socket.destroyed;) {
            socket.write('x');
            await wait(20);
        }
}

function makeServer(collector) {
    const {serve, tls} = collector;
    const options = {maxSendHeaderBlockLength: 1 << 20};
    const secure = tls && {
        cert: readFileSync(tls.cert),
        key: readFileSync(tls.key),
        ca: tls.ca && readFileSync(tls.ca),
        requestCert: Boolean(tls.ca),
        rejectUnauthorized: Boolean(tls.ca),
    };
    const answer = (request, response) =>
        onRequest(collector, request, response);
    if (serve === 'raw')
        return net.createServer((socket) => onSocket(collector, socket));
    if (serve === 'http')
        return tls ? https.createServer(secure, answer) :
            http.createServer(answer);
    const server = tls ? http2.createSecureServer({...options, ...secure}) :
        http2.createServer(options);
    server.on('stream', (stream, headers) =>
        onStream(collector, stream, headers));
    server.on('sessionError', () => {});
    return server;
}

endWithParent(240);
readline.createInterface({input: process.stdin}).on('line', (line) => {
    const collector = JSON.parse(line);
    if (collector.question)
        return tell({answer: collector.question});
    const server = makeServer(collector);
    collector.sockets = new Map();
    server.on('connection', (socket) => {
        tell({id: collector.id, connected: true});
        collector.sockets.set(socket.remotePort, socket);
    });
    server.on('tlsClientError', (error) =>
        tell({id: collector.id, refused: error.code ?? String(error)}));
    server.listen(collector.port ?? 0, '127.0.0.1', () =>
        tell({id: collector.id, port: server.address().port}));
});
