/**
 * Finds where HTTP/1.1 answers end on a connection, by Content-Length or by chunks, without keeping their bodies: the
 * load generator must cost less than the servers it measures.
 */
export class ResponseEndDetector {
  /** Status of the last response that ended. */
  status = 0;
  #head = '';
  #state: 'head' | 'length' | 'chunk size' | 'chunk' | 'trailer' = 'head';
  /** Bytes of a body or chunk (with its line end) still to come. */
  #left = 0;
  #line = '';

  /** Reads received bytes and returns how many responses ended in them: at most one, where one request is in flight at a time. */
  take(bytes: Buffer): number {
    let ended = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#state === 'head') {
        at = this.#takeHead(bytes, at);
        if (this.#isEmpty()) ended += this.#end();
      } else if (this.#state === 'length' || this.#state === 'chunk') {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
        if (this.#left > 0) continue;
        if (this.#state === 'length') ended += this.#end();
        else this.#state = 'chunk size';
      } else {
        const until = bytes.indexOf(10, at);
        this.#line += bytes.toString('latin1', at, until < 0 ? bytes.length : until);
        at = until < 0 ? bytes.length : until + 1;
        if (until >= 0) ended += this.#takeLine();
      }
    }
    return ended;
  }

  #takeHead(bytes: Buffer, at: number): number {
    const before = this.#head.length;
    this.#head += bytes.toString('latin1', at);
    const until = this.#head.indexOf('\r\n\r\n');
    if (until < 0) return bytes.length;
    const head = this.#head.slice(0, until);
    this.#head = '';
    this.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length !== undefined || this.status === 204) {
      this.#state = 'length';
      this.#left = Number(length ?? 0);
    } else if (/\r\ntransfer-encoding: chunked/i.test(head)) this.#state = 'chunk size';
    else throw new Error(`neither Content-Length nor chunks in:\n${head}`);
    return at + until + 4 - before;
  }

  #takeLine(): number {
    const line = this.#line.trim();
    this.#line = '';
    if (this.#state === 'trailer') return line === '' ? this.#end() : 0;
    const size = Number.parseInt(line, 16);
    if (Number.isNaN(size)) throw new Error(`"${line}" is no size of a chunk`);
    this.#state = size === 0 ? 'trailer' : 'chunk';
    this.#left = size + 2;
    return 0;
  }

  #isEmpty(): boolean {
    return this.#state === 'length' && this.#left === 0;
  }

  #end(): 1 {
    this.#state = 'head';
    return 1;
  }
}
