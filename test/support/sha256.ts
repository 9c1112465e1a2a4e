import { createHash } from 'node:crypto';

/** The SHA-256 of bytes, as hexadecimal digits. */
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
