import type pg from 'pg';
import utils from 'pg/lib/utils.js';
import { serialize } from 'pg-protocol';

/** The driver's connection, as a query of one's own sees it. */
interface Wire {
  readonly stream: { readonly writable: boolean; write(bytes: Uint8Array): void };
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
}

/** What follows every bound statement: run it, and say when it is over. */
const END = Buffer.concat([serialize.execute(), serialize.sync()]);

export type Texts = readonly (string | null)[];

/**
 * A statement of which the first row is wanted, as texts: what JSON that PostgreSQL made needs. It does not ask how the
 * columns are called and makes no row object, which small reads feel (ADR 12).
 */
class FirstRow implements pg.Submittable {
  readonly text: string;
  readonly name: string;
  readonly #values: unknown[];
  readonly #done: (error: Error | null, row?: Texts) => void;
  #row: Texts | undefined;

  constructor(text: string, values: unknown[], name: string, done: (error: Error | null, row?: Texts) => void) {
    this.text = text;
    this.name = name;
    this.#values = values;
    this.#done = done;
  }

  submit(connection: pg.Connection): void {
    const wire = connection as unknown as Wire;
    const bytes = this.#messages(wire);
    if (wire.stream.writable) wire.stream.write(bytes);
  }

  /** All messages as one piece: a small statement costs this process little more than the call that sends it. */
  #messages(wire: Wire): Uint8Array {
    const { name, text } = this;
    try {
      const bind = serialize.bind({ statement: name, values: this.#values, valueMapper: utils.prepareValue });
      if (name !== '' && (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) !== undefined)
        return Buffer.concat([bind, END]);
      const parse = serialize.parse({ text, name });
      if (name !== '') wire.submittedNamedStatements[name] = text;
      return Buffer.concat([parse, bind, END]);
    } catch (error) {
      // A value that cannot be sent. Nothing was, so the connection only has to say that it is ready for the next.
      this.#done(error as Error);
      return serialize.sync();
    }
  }

  handleDataRow({ fields }: { readonly fields: Texts }): void {
    this.#row ??= fields;
  }

  handleError(error: Error): void {
    this.#done(error);
  }

  handleReadyForQuery(): void {
    this.#done(null, this.#row);
  }

  // The driver tells of these as well; none has a meaning here.
  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

export const firstRow = (
  client: pg.ClientBase,
  text: string,
  values: unknown[],
  name = '',
): Promise<Texts | undefined> =>
  new Promise((resolve, reject) => {
    client.query(new FirstRow(text, values, name, (error, row) => (error ? reject(error) : resolve(row))));
  });
