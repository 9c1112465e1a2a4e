import { type ScimType, scimFailure } from '../scim-error.ts';
import {
  type AttributePath,
  COMPARISON_OPERATORS,
  type ComparisonOperator,
  type FilterValue,
  type PatchPath,
  type ScimFilter,
} from './filter-tree.ts';
import { type FilterToken, MAX_FILTER_LENGTH, parseWordValue, splitFilter } from './tokens.ts';

const MAX_DEPTH = 20;
const MAX_COMPARISONS = 100;
/** `urn:…:User:name.familyName`: a version has digits after its dot, which no name of an attribute begins with. */
const PATH = /^(?:(urn:[\w:.-]+):)?([a-z$][\w$-]*)(?:\.([a-z$][\w$-]*))?$/i;

/** Parses a filter (RFC 7644, section 3.4.2.2). @throws 400 `invalidFilter` */
export function parseScimFilter(text: string): ScimFilter {
  const parser = new FilterParser(text, 'invalidFilter');
  const filter = parser.parseOr(0);
  parser.assertEnd();
  return filter;
}

/** Parses the path of an operation (RFC 7644, section 3.5.2). @throws 400 `invalidPath` */
export function parsePatchPath(text: string): PatchPath {
  const parser = new FilterParser(text, 'invalidPath');
  const path = parser.parsePatchPath();
  parser.assertEnd();
  return path;
}

/** Parses the path of an attribute; undefined for any other text. */
export function parseAttributePath(text: string): AttributePath | undefined {
  const match = text.length > MAX_FILTER_LENGTH ? null : PATH.exec(text);
  if (!match) return undefined;
  const [, schema, name = '', sub] = match;
  return {
    ...(schema === undefined ? {} : { schema: schema.toLowerCase() }),
    name: name.toLowerCase(),
    ...(sub === undefined ? {} : { sub: sub.toLowerCase() }),
  };
}

/** A recursive descent over the parts of a text, within limits of depth and comparisons. */
class FilterParser {
  readonly #scimType: ScimType;
  readonly #tokens: readonly FilterToken[];
  #at = 0;
  #comparisons = 0;

  constructor(text: string, scimType: ScimType) {
    this.#scimType = scimType;
    if (text.length > MAX_FILTER_LENGTH) throw this.#failure(`it is longer than ${MAX_FILTER_LENGTH} characters`);
    const tokens = splitFilter(text);
    if (!tokens) throw this.#failure('a value is not closed, or has an invalid escape');
    this.#tokens = tokens;
  }

  parseOr(depth: number): ScimFilter {
    return this.#parseChain('or', () => this.#parseChain('and', () => this.#parseTerm(depth)));
  }

  parsePatchPath(): PatchPath {
    const path = this.#parsePath();
    if (!this.#takeSign('[')) return path;
    const filter = this.parseOr(1);
    this.#expectSign(']');
    const sub = this.#parseSubAttribute();
    return { ...path, filter, ...(sub === undefined ? {} : { sub }) };
  }

  assertEnd(): void {
    if (this.#at < this.#tokens.length) throw this.#failure(`"${this.#describe()}" is one too many`);
  }

  #parseChain(kind: 'and' | 'or', parseOne: () => ScimFilter): ScimFilter {
    const of = [parseOne()];
    while (this.#takeWord(kind)) of.push(parseOne());
    return of.length === 1 ? (of[0] as ScimFilter) : { kind, of };
  }

  #parseTerm(depth: number): ScimFilter {
    if (depth > MAX_DEPTH) throw this.#failure(`it is nested deeper than ${MAX_DEPTH} levels`);
    const isNegated = this.#takeWord('not');
    if (isNegated || this.#peekSign('(')) {
      this.#expectSign('(');
      const of = this.parseOr(depth + 1);
      this.#expectSign(')');
      return isNegated ? { kind: 'not', of } : of;
    }
    return this.#parseExpression(depth);
  }

  #parseExpression(depth: number): ScimFilter {
    if (++this.#comparisons > MAX_COMPARISONS) throw this.#failure(`it has more than ${MAX_COMPARISONS} comparisons`);
    const path = this.#parsePath();
    if (!this.#takeSign('[')) return this.#parseComparison(path);
    const inner = this.parseOr(depth + 1);
    this.#expectSign(']');
    const sub = this.#parseSubAttribute();
    if (sub === undefined) return { kind: 'some', path, of: inner };
    // `emails[type eq "work"].value eq "…"`, which Entra ID sends: one value has to match both.
    return { kind: 'some', path, of: { kind: 'and', of: [inner, this.#parseComparison({ name: sub })] } };
  }

  #parseComparison(path: AttributePath): ScimFilter {
    const word = this.#takeAnyWord()?.toLowerCase();
    if (word === 'pr') return { kind: 'present', path };
    const operator = COMPARISON_OPERATORS.find((one) => one === word);
    if (!operator) throw this.#failure(`"${word ?? this.#describe()}" is no operator`);
    return { kind: 'compare', path, operator, value: this.#parseValue(operator) };
  }

  #parseValue(operator: ComparisonOperator): FilterValue {
    const token = this.#tokens[this.#at++];
    const value =
      token?.kind === 'text' ? token.value : token?.kind === 'word' ? parseWordValue(token.text) : undefined;
    if (value === undefined) throw this.#failure(`"${operator}" has no value of JSON behind it`);
    return value;
  }

  #parsePath(): AttributePath {
    const word = this.#takeAnyWord();
    const path = word === undefined ? undefined : parseAttributePath(word);
    if (!path) throw this.#failure(`"${word ?? this.#describe()}" is no attribute`);
    return path;
  }

  /** `.value` right behind a bracket. */
  #parseSubAttribute(): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'word' || !/^\.[a-z$][\w$-]*$/i.test(token.text)) return undefined;
    this.#at++;
    return token.text.slice(1).toLowerCase();
  }

  #takeWord(word: string): boolean {
    const token = this.#tokens[this.#at];
    const isIt = token?.kind === 'word' && token.text.toLowerCase() === word;
    if (isIt) this.#at++;
    return isIt;
  }

  #takeAnyWord(): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'word') return undefined;
    this.#at++;
    return token.text;
  }

  #peekSign(sign: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'sign' && token.text === sign;
  }

  #takeSign(sign: string): boolean {
    const isIt = this.#peekSign(sign);
    if (isIt) this.#at++;
    return isIt;
  }

  #expectSign(sign: string): void {
    if (!this.#takeSign(sign)) throw this.#failure(`"${sign}" is missing before "${this.#describe()}"`);
  }

  #describe(): string {
    const token = this.#tokens[this.#at];
    if (!token) return 'the end';
    return token.kind === 'text' ? 'a value' : token.text.slice(0, 50);
  }

  #failure(reason: string) {
    const what = this.#scimType === 'invalidPath' ? 'path' : 'filter';
    return scimFailure(400, `The ${what} is invalid: ${reason}.`, this.#scimType);
  }
}
