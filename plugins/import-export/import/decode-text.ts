import { TextDecoder } from 'node:util';
import { fail } from '#kernel';

/** Byte-order marks, which say the encoding whatever is declared. */
const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/** @throws UNSUPPORTED_MEDIA_TYPE for an unknown charset. */
export function assertKnownCharset(charset: string | undefined): void {
  try {
    new TextDecoder(charset);
  } catch {
    throw fail('UNSUPPORTED_MEDIA_TYPE', `The charset ${charset} is not known.`, { where: 'file' });
  }
}

/**
 * Decodes the bytes of a file: by its byte-order mark, else by the declared charset, else as UTF-8. A byte-order mark is
 * no part of the text.
 * @throws INVALID_PAYLOAD for bytes that are no text in this encoding
 */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  charset: string | undefined,
): AsyncGenerator<string, void, undefined> {
  let decoder: TextDecoder | undefined;
  for await (const part of bytes) {
    decoder ??= new TextDecoder(encodingOfMark(part) ?? charset, { fatal: true });
    yield decode(decoder, part);
  }
  if (decoder) yield decode(decoder);
}

function decode(decoder: TextDecoder, part?: Uint8Array): string {
  try {
    return part ? decoder.decode(part, { stream: true }) : decoder.decode();
  } catch {
    throw fail('INVALID_PAYLOAD', `The file has bytes that are not ${decoder.encoding}.`, { path: [] });
  }
}

const encodingOfMark = (part: Uint8Array): string | undefined =>
  BYTE_ORDER_MARKS.find(([, mark]) => mark.every((byte, at) => part[at] === byte))?.[0];
