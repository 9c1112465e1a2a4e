import { createMalformedFailure, createRowTooLargeFailure, type RowLimits } from './source-row.ts';

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** Where the splitter stands: before the list, at its first element, at a further one, inside of one, or behind the list. */
type State = 'start' | 'first' | 'next' | 'inside' | 'end';

/** Splits the text of a JSON list into the texts of its elements, which it does not parse. */
export class JsonListSplitter {
  readonly #limits: RowLimits;
  #state: State = 'start';
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** The parts of the element that preceded the current chunk. */
  #before = '';

  constructor(limits: RowLimits) {
    this.#limits = limits;
  }

  /**
   * The elements that end in this chunk.
   * @throws INVALID_PAYLOAD for text that is no list, CONTENT_TOO_LARGE for an element over the limit
   */
  *push(chunk: string): Generator<string, void, undefined> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk.charCodeAt(at);
      if (this.#state === 'inside') {
        if (!this.#endsElement(code)) continue;
        yield this.#take(chunk.slice(from, at));
        this.#state = code === COMMA ? 'next' : 'end';
      } else if (!isSpace(code)) {
        this.#enter(code);
        from = at;
      }
    }
    if (this.#state === 'inside') this.#keep(chunk.slice(from));
  }

  /** @throws INVALID_PAYLOAD where the list has not ended */
  end(): void {
    if (this.#state === 'start') throw createMalformedFailure('The file is empty: a JSON list of objects is needed.');
    if (this.#state !== 'end') throw createMalformedFailure('The file ends before its JSON list does.');
  }

  /** Handles the first character of the list, of an element or behind the list. */
  #enter(code: number): void {
    if (this.#state === 'end') throw createMalformedFailure('The file goes on behind its JSON list.');
    if (this.#state === 'start') {
      if (code !== OPEN_LIST) throw createMalformedFailure('The file must hold a JSON list of objects.');
      this.#state = 'first';
    } else if (this.#state === 'first' && code === CLOSE_LIST) this.#state = 'end';
    else {
      this.#state = 'inside';
      // The first character of an element may open a text, a list or an object.
      if (this.#endsElement(code)) throw createMalformedFailure('An element of the JSON list is missing.');
    }
  }

  /** Follows one character of an element; true for the comma or bracket behind it. */
  #endsElement(code: number): boolean {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#isInText = false;
      return false;
    }
    if (code === QUOTE) this.#isInText = true;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) this.#depth++;
    else if (this.#depth === 0) return code === COMMA || code === CLOSE_LIST;
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) this.#depth--;
    return false;
  }

  #keep(part: string): void {
    this.#before += part;
    if (this.#before.length > this.#limits.maxRowSize) throw createRowTooLargeFailure(this.#limits.maxRowSize);
  }

  #take(last: string): string {
    this.#keep(last);
    const element = this.#before;
    this.#before = '';
    return element;
  }
}
