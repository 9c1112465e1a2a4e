import { type Caller, Failure, type KernelCommand } from '#kernel';
import type { ItemsEngine } from '../items/contract.ts';
import type { SchemaService } from '../schema/contract.ts';

interface Deps {
  readonly items: Pick<ItemsEngine, 'rows'>;
  readonly schema: Pick<SchemaService, 'snapshot'>;
  readonly systemCaller: () => Caller;
}

/** `count <collection>`: prints the number of rows (conventions, "CLI"). */
export const createCountCommand = ({ items, schema, systemCaller }: Deps): KernelCommand => ({
  name: 'count',
  about: 'prints the number of rows of a collection: count <collection>',
  needs: 'start',
  check: (args) => (args.length === 1 ? undefined : printError('Usage: count <collection>', 2)),
  async run([collection = '']) {
    if (!(await schema.snapshot()).collections.has(collection))
      return printError(`There is no collection ${collection}.`, 1);
    try {
      const rows = await items.rows<{ count: number | string }>(systemCaller(), collection, {
        aggregate: { count: '*' },
      });
      process.stdout.write(`${rows[0]?.count ?? 0}\n`);
      return 0;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return printError(`${error.code}: ${error.message}`, 1);
    }
  },
});

function printError(line: string, code: number): number {
  process.stderr.write(`${line}\n`);
  return code;
}
