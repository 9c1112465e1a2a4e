import { randomUUID } from 'node:crypto';

/** Random numbers that a seed repeats. */
export interface RandomSource {
  /** A whole number from 0 to `below` - 1. */
  number(below: number): number;
  pick<T>(all: readonly T[]): T;
}

export function createRandomSource(seed: number): RandomSource {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const number = (below: number): number => Math.floor(next() * below);
  return { number, pick: (all) => all[number(all.length)] as never };
}

/** Where a client sends a secret: headers take printable ASCII only. */
export interface SecretPlace {
  readonly path: string;
  readonly isHeader?: boolean;
  readonly request: (secret: string) => {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Readonly<Record<string, unknown>>;
    readonly query?: string;
  };
}

const inHeader = (name: string, value: (secret: string) => string): SecretPlace => ({
  path: `$trigger.headers.${name}`,
  isHeader: true,
  request: (secret) => ({ headers: { [name]: value(secret) } }),
});
const inBody = (path: string, body: (secret: string) => Readonly<Record<string, unknown>>): SecretPlace => ({
  path: `$trigger.body.${path}`,
  request: (secret) => ({ body: body(secret) }),
});

export const SECRET_PLACES: readonly SecretPlace[] = [
  inHeader('authorization', (secret) => `Token ${secret}`),
  inHeader('authorization', (secret) => `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`),
  inHeader('cookie', (secret) => `a=b; session=${secret}; c=d`),
  inHeader('x-api-key', (secret) => secret),
  inBody('user.password', (secret) => ({ user: { password: secret } })),
  inBody('list[0].access_token', (secret) => ({ list: [{ access_token: secret }] })),
  inBody('credentials.inner[0]', (secret) => ({ credentials: { inner: [secret, { deep: secret }] } })),
  inBody('clientSecret', (secret) => ({ clientSecret: secret })),
  inBody('headers[0].value', (secret) => ({ headers: [{ header: 'Authorization', value: secret }] })),
  { path: '$trigger.query.api_key', request: (secret) => ({ query: `?api_key=${encodeURIComponent(secret)}` }) },
];

/** A secret of its own: random letters, in places other than headers with characters that encodings change. */
export function createSecret(random: RandomSource, { isHeader = false }: SecretPlace): string {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
  const odd = isHeader ? '+/=.-_~' : '+/=.-_~"\\&? %äöü€\n\t😀<>';
  const length = 12 + random.number(16);
  const characters = Array.from({ length }, () =>
    random.number(5) === 0 ? random.pick([...odd]) : random.pick([...letters]),
  );
  return `${random.pick([...letters])}${characters.join('')}${random.pick([...letters])}`;
}

/** One operation as its row. */
export interface RandomOperation {
  readonly id: string;
  readonly key: string;
  readonly type: string;
  readonly options: Readonly<Record<string, unknown>>;
  resolve: string | null;
  reject: string | null;
}

/** A chain of up to six operations that copy, wrap, log, throw and hand on what the client has sent. */
export function createRandomChain(
  random: RandomSource,
  place: SecretPlace,
  { echo, server, encodings }: { readonly echo: string; readonly server: string; readonly encodings: number },
): readonly RandomOperation[] {
  const keys: string[] = [];
  const path = (): string =>
    random.pick([
      place.path,
      `$trigger.body.encoded[${random.number(encodings)}]`,
      '$trigger.body.encoded',
      '$trigger.headers',
      '$trigger',
      '$last',
      ...keys,
      ...keys.map((key) => `${key}.a`),
    ]);
  const template = (): string =>
    random.pick([() => `{{ ${path()} }}`, () => `of {{ ${path()} }} and {{${path()}}}`, () => `"{{ ${path()} }}"`])();
  const value = (depth = 0): unknown =>
    depth > 2 || random.number(2) === 0
      ? template()
      : random.number(2) === 0
        ? { a: value(depth + 1), [`b${random.number(3)}`]: value(depth + 1) }
        : [value(depth + 1), random.number(100), null];
  const kinds: readonly (() => Pick<RandomOperation, 'type' | 'options'>)[] = [
    () => ({ type: 'transform', options: { json: { a: value(), c: value() } } }),
    () => ({ type: 'transform', options: { json: [value(), value()] } }),
    () => ({ type: 'transform', options: { json: `{"a": "{{ ${path()} }}"}` } }),
    () => ({ type: 'log', options: { message: value() } }),
    () => ({
      type: 'throw-error',
      options: { code: template(), status: 400 + random.number(99), message: template() },
    }),
    () => ({ type: 'condition', options: { filter: { $trigger: { body: { encoded: { _eq: template() } } } } } }),
    () => ({ type: 'trigger', options: { flow: echo, payload: value() } }),
    () => ({ type: 'item-read', options: { collection: template(), key: template() } }),
    () => ({
      type: 'json-web-token',
      options: { operation: 'sign', secret: `of this chain ${template()}`, payload: { a: value() } },
    }),
    () => ({
      type: 'request',
      options: {
        method: 'POST',
        url: `${server}/${random.pick([200, 200, 500])}`,
        headers: [{ header: random.pick(['X-Plain', 'Authorization']), value: 'fixed text of a header' }],
        body: { a: value() },
      },
    }),
    () => ({ type: 'odd type', options: { any: value() } }),
  ];
  const operations: RandomOperation[] = Array.from({ length: 1 + random.number(6) }, (_, at) => {
    const one = { id: randomUUID(), key: `step${at}`, ...random.pick(kinds)(), resolve: null, reject: null };
    keys.push(one.key);
    return one;
  });
  // Each follows the one before where that resolves, and most also where that fails, which is not the same row twice.
  for (const [at, one] of operations.entries()) {
    const next = operations[at + 1];
    if (!next) continue;
    one.resolve = next.id;
    if (random.number(3) > 0) one.reject = next.id;
  }
  return operations;
}
