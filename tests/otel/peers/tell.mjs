// SPDX-License-Identifier: MIT
// tell.mjs - what a peer got, one JSON object per line on stdout.
//
// Integers of 64 bits are told as decimal text, bytes in hex, and numbers that
// JSON does not have by their names; whoever compares can then be exact.
import process from 'node:process';

export function plain(value) {
    if (typeof value === 'bigint')
        return value.toString();
    if (typeof value === 'number' && !Number.isFinite(value))
        return String(value);
    if (value === null || typeof value !== 'object')
        return value;
    if (value instanceof Uint8Array)
        return Buffer.from(value).toString('hex');
    if ('low' in value && 'high' in value && 'unsigned' in value)
        return value.toString(); // Long
    if (Array.isArray(value))
        return value.map(plain);
    return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

export function tell(line) {
    process.stdout.write(JSON.stringify(line) + '\n');
}

// A peer ends with whoever started it, and never outlives a test by long.
export function endWithParent(seconds) {
    process.stdin.on('end', () => process.exit(0));
    process.stdin.resume();
    setTimeout(() => process.exit(3), seconds * 1000).unref();
}
