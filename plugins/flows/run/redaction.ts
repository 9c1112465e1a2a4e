/** What stands in place of a secret (specification, "Flow record"). */
export const REDACTED = '--redact--';

/** Secrets shorter than this are replaced where their key says so, but not looked for in other texts: they are parts of words. */
const MIN_SEARCHED_LENGTH = 6;
/** A run with more secrets than this, which only a hostile client sends, keeps no texts at all: searching would take too long. */
const MAX_SECRETS = 100;
const MAX_DEPTH = 100;
/** Values that wait for the search. */
const MAX_PENDING = 1000;

/** Keys whose values are secrets, without regard to case, `-` and `_`; also as the end of a longer key. */
const SECRET_KEY =
  /(?:authorization|cookie|token|password|passwd|passphrase|secret|apikey|accesskey|privatekey|credentials?|tfasecret|externalidentifier|authdata|otp)$/;

/** Names that were looked at: rows have the same ones again and again. Bounded, since clients choose some of them. */
const knownKeys = new Map<string, boolean>();
const MAX_KNOWN_KEYS = 5000;
const MAX_KNOWN_KEY_LENGTH = 64;

export function isSecretKey(key: string): boolean {
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  const isSecret = SECRET_KEY.test(key.toLowerCase().replace(/[^a-z0-9]/g, ''));
  if (knownKeys.size < MAX_KNOWN_KEYS && key.length <= MAX_KNOWN_KEY_LENGTH) knownKeys.set(key, isSecret);
  return isSecret;
}

/** Names the member `value` of a pair such as `{ header, value }`, as editors store headers. */
const isSecretPair = (pair: Readonly<Record<string, unknown>>): boolean =>
  ['header', 'name', 'key'].some((name) => typeof pair[name] === 'string' && isSecretKey(pair[name]));

/** What a chain makes of a secret that it takes for a part of a JSON text, or of an address. */
function decodingsOf(secret: string): readonly string[] {
  const decoders = [
    ...(secret.includes('\\') ? [() => JSON.parse(`"${secret}"`) as unknown] : []),
    ...(secret.includes('%') ? [() => decodeURIComponent(secret)] : []),
  ];
  return decoders.flatMap((decode) => {
    try {
      const text = decode();
      return typeof text === 'string' && text.length >= MIN_SEARCHED_LENGTH ? [text] : [];
    } catch {
      return [];
    }
  });
}

/** The forms in which a secret may stand in a text that was made of it. */
const formsOf = (secret: string): readonly string[] => [secret, ...decodingsOf(secret)].flatMap(encodingsOf);

function encodingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll('%20', '+'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64FormsOf(bytes),
    ...(inJson === secret ? [] : base64FormsOf(Buffer.from(inJson))),
  ];
}

/** Base64 of a secret inside of a longer text differs by what precedes it: the part that is the same in each of three positions. */
function base64FormsOf(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const start = before === 0 ? 0 : before + 1;
    const end = text.length - ((bytes.length + before) % 3 === 0 ? 0 : 1);
    const inner = text.slice(start, end);
    return inner.length < MIN_SEARCHED_LENGTH ? [] : [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** Texts that a header `Authorization` or `Cookie` carries beside its whole value. */
function partsOfHeader(value: string): readonly string[] {
  const [, scheme = '', rest = ''] = /^(\S+)\s+(.+)$/.exec(value) ?? [];
  const basic = /^basic$/i.test(scheme) ? Buffer.from(rest, 'base64').toString() : '';
  const cookies = value.split(';').flatMap((one) => /^\s*[^=;\s]+=(.+)$/.exec(one)?.[1] ?? []);
  return [rest, basic, basic.slice(basic.indexOf(':') + 1), ...cookies];
}

/**
 * The secrets of one run. Every value that enters the run is noted; what leaves it for a log, a row or another caller is redacted: the
 * values of secret keys, and each text that contains a noted secret in any of its encodings. Values are searched for secrets when
 * something is redacted first: a run that leaves nothing behind costs nothing here.
 */
export class RunSecrets {
  readonly #noted = new Set<string>();
  /** Values that have entered the run since secrets were last looked for in them. */
  #pending: { readonly value: unknown; readonly isSecret: boolean }[] = [];
  #search: SecretSearch | undefined;

  /** Notes the secrets in a value, at any depth. `isSecret`: every text and number in it is one. */
  note(value: unknown, isSecret = false): void {
    if ((typeof value === 'object' && value !== null) || isSecret) this.#pending.push({ value, isSecret });
    // A flow that runs others for a long list must not hold all of their values.
    if (this.#pending.length >= MAX_PENDING) this.collectNoted();
  }

  /** Looks for secrets now in all that was noted, which its owner may change afterwards. */
  collectNoted(): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { value, isSecret } of pending) this.#collect(value, isSecret);
  }

  #collect(value: unknown, isSecret: boolean, depth = 0): void {
    if (depth > MAX_DEPTH) return;
    if (typeof value === 'string') {
      if (isSecret) this.#add(value);
    } else if (typeof value === 'number' || typeof value === 'bigint') {
      if (isSecret) this.#add(String(value));
    } else if (Array.isArray(value)) for (const one of value) this.#collect(one, isSecret, depth + 1);
    else if (typeof value === 'object' && value !== null) {
      const isPair = isSecretPair(value as Record<string, unknown>);
      for (const [key, one] of Object.entries(value))
        this.#collect(one, isSecret || isSecretKey(key) || (isPair && key === 'value'), depth + 1);
    }
  }

  #add(text: string): void {
    if (this.#noted.size > MAX_SECRETS) return;
    for (const one of [text, ...partsOfHeader(text)]) if (one.length >= MIN_SEARCHED_LENGTH) this.#noted.add(one);
    this.#search = undefined;
  }

  /** The noted secrets, in the order in which they were noted, for the stored state of a run. */
  noted(): readonly string[] {
    this.collectNoted();
    return [...this.#noted];
  }

  /** Notes what `noted` answered in another process. */
  restore(noted: readonly string[]): void {
    for (const one of noted) this.#noted.add(one);
    this.#search = undefined;
  }

  /** A copy without secrets; values that JSON has no form for become what JSON makes of them. */
  redact(value: unknown, depth = 0): unknown {
    if (depth > MAX_DEPTH) return REDACTED;
    if (typeof value === 'string') return this.redactText(value);
    if (Array.isArray(value)) return value.map((one) => this.redact(one, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    const plain =
      typeof (value as { toJSON?: unknown }).toJSON === 'function' ? JSON.parse(JSON.stringify(value)) : value;
    if (typeof plain !== 'object' || plain === null) return this.redact(plain, depth + 1);
    const isPair = isSecretPair(plain as Record<string, unknown>);
    return Object.fromEntries(
      Object.entries(plain).map(([key, one]) => [
        this.redactText(key),
        (isSecretKey(key) || (isPair && key === 'value')) && one !== null && one !== undefined
          ? REDACTED
          : this.redact(one, depth + 1),
      ]),
    );
  }

  redactText(text: string): string {
    if (this.#pending.length > 0) this.collectNoted();
    if (this.#noted.size === 0) return text;
    if (this.#noted.size > MAX_SECRETS) return text.length < MIN_SEARCHED_LENGTH ? text : REDACTED;
    this.#search ??= new SecretSearch(new Set([...this.#noted].flatMap(formsOf)));
    return this.#search.replaceAll(text);
  }
}

const PREFIX = 4;

/** Finds any of many texts in one pass over another one: a client must not make a run expensive by many secrets. */
class SecretSearch {
  /** The forms by their first characters, longer ones first, so that a shorter one does not leave the rest of a longer one. */
  readonly #byPrefix = new Map<string, string[]>();
  /** Marks the first two characters of all forms. */
  readonly #begins = new Uint8Array(65_536);

  constructor(forms: ReadonlySet<string>) {
    for (const form of [...forms].sort((a, b) => b.length - a.length)) {
      const prefix = form.slice(0, PREFIX);
      this.#byPrefix.set(prefix, [...(this.#byPrefix.get(prefix) ?? []), form]);
      this.#begins[indexOfPair(form, 0)] = 1;
    }
  }

  replaceAll(text: string): string {
    let redacted = '';
    let kept = 0;
    for (let at = 0; at + MIN_SEARCHED_LENGTH <= text.length; at++) {
      if (this.#begins[indexOfPair(text, at)] === 0) continue;
      const form = this.#byPrefix.get(text.slice(at, at + PREFIX))?.find((one) => text.startsWith(one, at));
      if (form === undefined) continue;
      redacted += text.slice(kept, at) + REDACTED;
      kept = at + form.length;
      at = kept - 1;
    }
    return kept === 0 ? text : redacted + text.slice(kept);
  }
}

const indexOfPair = (text: string, at: number): number =>
  (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) & 0xff_ff;
