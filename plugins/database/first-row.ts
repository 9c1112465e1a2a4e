import type pg from 'pg';
import utils from 'pg/lib/utils.js';

/** The driver's connection, as a query of one's own sees it. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { text: string; name: string }): void;
  bind(message: { portal: string; statement: string; values: unknown[]; valueMapper: unknown }): void;
  execute(message: { portal: string; rows: number }): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

export type Texts = readonly (string | null)[];

/**
 * A statement of which the first row is wanted, as texts: what JSON that PostgreSQL made needs. It does not ask how the
 * columns are called and makes no row object, which is a tenth of what a small read costs this process.
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
    const { name, text } = this;
    wire.stream.cork();
    try {
      if (name === '' || !(wire.parsedStatements[name] ?? wire.submittedNamedStatements[name])) {
        wire.parse({ text, name });
        if (name !== '') wire.submittedNamedStatements[name] = text;
      }
      wire.bind({ portal: '', statement: name, values: this.#values, valueMapper: utils.prepareValue });
      wire.execute({ portal: '', rows: 0 });
    } catch (error) {
      // A value that cannot be sent: what was sent of the statement is closed, and the connection stays of use.
      delete wire.submittedNamedStatements[name];
      wire.close({ type: 'S', name });
      this.#done(error as Error);
    } finally {
      wire.sync();
      wire.stream.uncork();
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
