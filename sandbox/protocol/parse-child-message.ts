import { FrameError } from './frames.ts';
import type { ArtifactExport, ChildFailureCode, ChildMessage } from './messages.ts';

const METHOD = /^[a-z]{1,32}\.[A-Za-z]{1,32}$/;
const MAX_ENTRIES = 64;
const MAX_NAMES = 16;
const MAX_NAME_LENGTH = 128;
/** `type:` and the name of a package or contribution. */
const MAX_KEY_LENGTH = 300;

type Header = Readonly<Record<string, unknown>>;

/**
 * Validates the header of a frame as a message of a child. Throws a FrameError for unknown types and for missing,
 * mistyped or additional members. The worker checks whether the message is allowed in its state.
 */
export function parseChildMessage(header: Header): ChildMessage {
  switch (header.type) {
    case 'call':
      assertMemberCount(header, 4);
      if (!isId(header.id) || !isNumber(header.call) || typeof header.method !== 'string')
        throw createMalformedError('call');
      if (!METHOD.test(header.method)) throw createMalformedError('call');
      return header as ChildMessage;
    case 'result':
      assertMemberCount(header, header.none === undefined ? 2 : 3);
      if (!isId(header.id) || (header.none !== undefined && header.none !== true)) throw createMalformedError('result');
      return header as ChildMessage;
    case 'failure':
      assertMemberCount(header, 3);
      if (!isId(header.id) || !FAILURES.has(header.code)) throw createMalformedError('failure');
      return header as ChildMessage;
    case 'pong':
      assertMemberCount(header, 2);
      if (!isId(header.id)) throw createMalformedError('pong');
      return header as ChildMessage;
    case 'hello':
      assertMemberCount(header, 2);
      if (!isNumber(header.protocol)) throw createMalformedError('hello');
      return header as ChildMessage;
    case 'loaded':
      assertMemberCount(header, 2);
      if (!isContract(header.contract)) throw createMalformedError('loaded');
      return header as ChildMessage;
    case 'refused':
      assertMemberCount(header, 2);
      if (header.code !== 'invalid-entry' && header.code !== 'timeout') throw createMalformedError('refused');
      return header as ChildMessage;
    default:
      throw new FrameError('unknown message');
  }
}

const FAILURES: ReadonlySet<unknown> = new Set<ChildFailureCode>([
  'timeout',
  'guest-error',
  'invalid-result',
  'result-too-large',
  'rejected',
]);

const createMalformedError = (type: string): FrameError => new FrameError(`malformed message: ${type}`);

/** Callers check every expected member, so a matching count means that there is no other. */
function assertMemberCount(header: Header, count: number): void {
  let found = 0;
  for (const _ in header) found++;
  if (found !== count) throw new FrameError('malformed message: members');
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isId = (value: unknown): value is number => isNumber(value) && value > 0;

const isContract = (value: unknown): value is ArtifactExport[] =>
  Array.isArray(value) && value.length <= MAX_ENTRIES && value.every(isEntry);

function isEntry(value: unknown): value is ArtifactExport {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entry = value as Header;
  return (
    Object.keys(entry).length === 5 &&
    isText(entry.key, MAX_KEY_LENGTH) &&
    (entry.id === null || isText(entry.id, MAX_KEY_LENGTH)) &&
    typeof entry.handler === 'boolean' &&
    areNames(entry.filters) &&
    areNames(entry.actions)
  );
}

const isText = (value: unknown, longest: number): boolean => typeof value === 'string' && value.length <= longest;

const areNames = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= MAX_NAMES && value.every((name) => isText(name, MAX_NAME_LENGTH));
