import { FrameError } from './frames.ts';
import type { ChildFailure, ContractEntry, FromChild } from './messages.ts';

const METHOD = /^[a-z]{1,32}\.[A-Za-z]{1,32}$/;
const ENTRIES = 64;
const NAMES = 16;
const NAME = 128;
/** `type:` and the name of a package, or an identity. */
const KEY = 300;

type Header = Readonly<Record<string, unknown>>;

/**
 * The header of a frame as what a child may say, or a FrameError: unknown types, members that are missing, of another
 * type or that nobody expects. Whether it may say so *now* is for the connection to judge.
 */
export function fromChild(header: Header): FromChild {
  switch (header.type) {
    case 'call':
      members(header, 4);
      if (!isId(header.id) || !isNumber(header.call) || typeof header.method !== 'string') throw wrong('call');
      if (!METHOD.test(header.method)) throw wrong('call');
      return header as FromChild;
    case 'result':
      members(header, header.none === undefined ? 2 : 3);
      if (!isId(header.id) || (header.none !== undefined && header.none !== true)) throw wrong('result');
      return header as FromChild;
    case 'failure':
      members(header, 3);
      if (!isId(header.id) || !FAILURES.has(header.code)) throw wrong('failure');
      return header as FromChild;
    case 'pong':
      members(header, 2);
      if (!isId(header.id)) throw wrong('pong');
      return header as FromChild;
    case 'hello':
      members(header, 2);
      if (!isNumber(header.protocol)) throw wrong('hello');
      return header as FromChild;
    case 'loaded':
      members(header, 2);
      if (!isContract(header.contract)) throw wrong('loaded');
      return header as FromChild;
    case 'refused':
      members(header, 2);
      if (header.code !== 'invalid-entry' && header.code !== 'timeout') throw wrong('refused');
      return header as FromChild;
    default:
      throw new FrameError('unknown message');
  }
}

const FAILURES: ReadonlySet<unknown> = new Set<ChildFailure>([
  'timeout',
  'guest-error',
  'invalid-result',
  'result-too-large',
  'rejected',
]);

const wrong = (type: string): FrameError => new FrameError(`malformed message: ${type}`);

/** With every expected member present, a right count says that there is no other. */
function members(header: Header, count: number): void {
  let found = 0;
  for (const _ in header) found++;
  if (found !== count) throw new FrameError('malformed message: members');
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isId = (value: unknown): value is number => isNumber(value) && value > 0;

const isContract = (value: unknown): value is ContractEntry[] =>
  Array.isArray(value) && value.length <= ENTRIES && value.every(isEntry);

function isEntry(value: unknown): value is ContractEntry {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entry = value as Header;
  return (
    Object.keys(entry).length === 5 &&
    isText(entry.key, KEY) &&
    (entry.id === null || isText(entry.id, KEY)) &&
    typeof entry.handler === 'boolean' &&
    areNames(entry.filters) &&
    areNames(entry.actions)
  );
}

const isText = (value: unknown, longest: number): boolean => typeof value === 'string' && value.length <= longest;

const areNames = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= NAMES && value.every((name) => isText(name, NAME));
