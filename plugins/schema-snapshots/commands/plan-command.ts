import { buildPlan, type SchemaPlan } from '../plan/build-plan.ts';
import { renderPlan } from '../plan/render-plan.ts';
import type { ParsedArguments } from './command-arguments.ts';
import { EXIT, type SchemaCommandDeps } from './command-deps.ts';
import { writeDocumentFile } from './document-files.ts';
import { readRequestedDiff } from './requested-diff.ts';

/** Drops that were not allowed by name. */
export const missingDrops = ({ drops }: Pick<SchemaPlan, 'drops'>, allowed: ReadonlySet<string>): readonly string[] =>
  drops.filter((name) => !allowed.has(name));

/** `schema:plan`: what `schema:apply` would do. Changes nothing. */
export async function runPlan(deps: SchemaCommandDeps, parsed: ParsedArguments): Promise<number> {
  const caller = deps.system();
  const requested = await readRequestedDiff(deps.state, caller, parsed);
  if (!requested) {
    process.stdout.write(parsed.flags.has('json') ? 'null\n' : 'There is nothing to change.\n');
    return EXIT.done;
  }
  const plan = await buildPlan(deps, caller, requested.diff, {
    target: requested.target,
    force: parsed.flags.has('force'),
  });
  if (parsed.save !== undefined) {
    const { hash, diff, renames } = plan;
    await writeDocumentFile(parsed.save, `${JSON.stringify({ hash, diff, renames }, null, 2)}\n`, true);
  }
  process.stdout.write(parsed.flags.has('json') ? `${JSON.stringify(plan, null, 2)}\n` : renderPlan(plan));
  return plan.failure !== null || missingDrops(plan, parsed.allowedDrops).length > 0 ? EXIT.refused : EXIT.changes;
}
