/**
 * One token of a script. `string` carries what is between the quotes (escapes left as they are); a template without
 * substitutions is a `string` too, one with them a `template`, whose inner tokens follow it.
 */
export interface SourceToken {
  readonly kind: 'name' | 'mark' | 'string' | 'template' | 'regex' | 'number';
  readonly text: string;
  /** Offset of the token's first character in the source. */
  readonly at: number;
}

const NAME_START = /[\p{ID_Start}$_#]/u;
const NAME = /[#$_\p{ID_Start}][$\p{ID_Continue}]*/uy;
const NUMBER = /(?:\d|\.\d)[\w.]*/y;
/** Keywords before a value: a slash after them begins a regular expression. */
const BEFORE_VALUE: ReadonlySet<string> = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await extends default'.split(' '),
);
const BEFORE_PAREN: ReadonlySet<string> = new Set(['if', 'while', 'for', 'with']);

/**
 * Splits JavaScript or TypeScript into tokens, without comments and white space. It never fails: text that is not
 * valid, such as a quote that is not closed, is one token up to the end of its line at most.
 */
export function tokenize(source: string): readonly SourceToken[] {
  return new Lexer(source).run();
}

/** The kind of an open bracket, which decides what a slash after its closing bracket means. */
type OpenBracket = 'template' | 'block' | 'value' | 'condition' | 'paren';

class Lexer {
  readonly #source: string;
  readonly #found: SourceToken[] = [];
  readonly #open: OpenBracket[] = [];
  #at = 0;
  /** Whether a slash here begins a regular expression. */
  #valueNext = true;
  /** Up to this offset every slash is a division: no regular expression ended on this line. */
  #dividesUntil = 0;

  constructor(source: string) {
    this.#source = source;
  }

  run(): readonly SourceToken[] {
    const source = this.#source;
    if (source.startsWith('#!')) this.#at = this.#endOfLine(0);
    while (this.#at < source.length) {
      const char = source[this.#at] as string;
      if (/\s/.test(char)) this.#at++;
      else if (char === '/' && (source[this.#at + 1] === '/' || source[this.#at + 1] === '*')) this.#comment();
      else if (char === '"' || char === "'") this.#string(char);
      else if (char === '`') this.#template(this.#at + 1);
      else if (char === '}' && this.#open.at(-1) === 'template') {
        this.#open.pop();
        this.#template(this.#at + 1, false);
      } else if (char === '/' && this.#valueNext && this.#at >= this.#dividesUntil && this.#regex()) continue;
      else if (/\d/.test(char) || (char === '.' && /\d/.test(source[this.#at + 1] ?? '')))
        this.#match(NUMBER, 'number');
      else if (NAME_START.test(String.fromCodePoint(source.codePointAt(this.#at) as number))) this.#name();
      else this.#mark(char);
    }
    return this.#found;
  }

  #push(kind: SourceToken['kind'], text: string, length: number): void {
    this.#found.push({ kind, text, at: this.#at });
    this.#at += length;
    this.#valueNext = false;
  }

  #endOfLine(from: number): number {
    const end = this.#source.indexOf('\n', from);
    return end === -1 ? this.#source.length : end;
  }

  #comment(): void {
    if (this.#source[this.#at + 1] === '/') {
      this.#at = this.#endOfLine(this.#at);
      return;
    }
    const end = this.#source.indexOf('*/', this.#at + 2);
    this.#at = end === -1 ? this.#source.length : end + 2;
  }

  #string(quote: string): void {
    const source = this.#source;
    let end = this.#at + 1;
    while (end < source.length && source[end] !== quote && source[end] !== '\n') end += source[end] === '\\' ? 2 : 1;
    this.#push('string', source.slice(this.#at + 1, end), Math.min(end + 1, source.length) - this.#at);
  }

  /**
   * Reads a template from behind its backtick, or from behind a substitution (`first` false), to the next of either.
   */
  #template(from: number, first = true): void {
    const source = this.#source;
    let end = from;
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end))
      end += source[end] === '\\' ? 2 : 1;
    const hasMore = source.startsWith('${', end);
    if (first) this.#found.push({ kind: hasMore ? 'template' : 'string', text: source.slice(from, end), at: this.#at });
    this.#at = Math.min(end + (hasMore ? 2 : 1), source.length);
    this.#valueNext = hasMore;
    if (hasMore) this.#open.push('template');
  }

  /** False if no regular expression ends on this line: then the slash is a division. */
  #regex(): boolean {
    const source = this.#source;
    let isInClass = false;
    let end = this.#at + 1;
    for (; end < source.length && source[end] !== '\n'; end++) {
      const char = source[end];
      if (char === '\\') end++;
      else if (char === '[') isInClass = true;
      else if (char === ']') isInClass = false;
      else if (char === '/' && !isInClass) {
        const flags = /[a-z]*/iy;
        flags.lastIndex = end + 1;
        const text = source.slice(this.#at, end + 1) + (flags.exec(source)?.[0] ?? '');
        this.#push('regex', text, text.length);
        return true;
      }
    }
    this.#dividesUntil = end;
    return false;
  }

  #match(pattern: RegExp, kind: SourceToken['kind']): void {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0] ?? (this.#source[this.#at] as string);
    this.#push(kind, text, text.length);
  }

  #name(): void {
    const isMember = this.#found.at(-1)?.text === '.' || this.#found.at(-1)?.text === '?.';
    this.#match(NAME, 'name');
    this.#valueNext = !isMember && BEFORE_VALUE.has(this.#found.at(-1)?.text as string);
  }

  #mark(char: string): void {
    const source = this.#source;
    const text = ['=>', '?.', '++', '--', '...'].find((one) => source.startsWith(one, this.#at)) ?? char;
    const before = this.#found.at(-1);
    const wasValueNext = this.#valueNext;
    this.#push('mark', text, text.length);
    if (text === '(') this.#open.push(before?.kind === 'name' && BEFORE_PAREN.has(before.text) ? 'condition' : 'paren');
    if (text === '{') this.#open.push(opensBlock(before, wasValueNext) ? 'block' : 'value');
    const closed = text === ')' || text === '}' ? this.#open.pop() : undefined;
    this.#valueNext =
      closed === undefined ? ![']', ')', '}', '++', '--'].includes(text) : closed === 'block' || closed === 'condition';
  }
}

/**
 * Whether a brace opens a block: after `)`, `;`, `=>`, another brace or `else`; after `=`, `(`, `,` it opens an object.
 */
function opensBlock(before: SourceToken | undefined, valueNext: boolean): boolean {
  if (!before) return true;
  if (before.kind === 'mark') return [')', ';', '{', '}', '=>', '>'].includes(before.text);
  return before.kind !== 'name' || !valueNext || before.text === 'else' || before.text === 'do';
}
