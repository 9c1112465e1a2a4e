import { createInterface } from 'node:readline/promises';
import { buildPlan } from '../plan/build-plan.ts';
import { renderPlan } from '../plan/render-plan.ts';
import type { ParsedArguments } from './command-arguments.ts';
import { EXIT, type SchemaCommandDeps } from './command-deps.ts';
import { CommandError } from './document-files.ts';
import { missingDrops } from './plan-command.ts';
import { readRequestedDiff } from './requested-diff.ts';

/** `schema:apply`: shows the plan, asks on a terminal, and applies it in one transaction. */
export async function runApply(deps: SchemaCommandDeps, parsed: ParsedArguments): Promise<number> {
  const caller = deps.system();
  const requested = await readRequestedDiff(deps.state, caller, parsed);
  if (!requested) {
    process.stdout.write('There is nothing to change.\n');
    return EXIT.done;
  }
  const { diff, target } = requested;
  const plan = await buildPlan(deps, caller, diff, { target, force: parsed.flags.has('force') });
  process.stdout.write(renderPlan(plan));
  const missing = missingDrops(plan, parsed.allowedDrops);
  if (missing.length > 0)
    process.stderr.write(`Refused: this deletes data. Allow it with --allow-drop ${missing.join(',')}\n`);
  if (missing.length > 0 || plan.failure !== null) return EXIT.refused;
  if (parsed.flags.has('dry-run')) return EXIT.done;
  if (!parsed.flags.has('yes') && !(await confirm())) return EXIT.refused;
  await deps.state.apply(caller, diff, { force: parsed.flags.has('force') });
  process.stdout.write('Applied.\n');
  return EXIT.done;
}

/** Asks on standard error, so that standard output has the plan only. @throws CommandError without a terminal */
async function confirm(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new CommandError('Standard input is no terminal: --yes applies the plan without asking.');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question('Apply these changes? [y/N] ')).trim());
  } finally {
    terminal.close();
  }
}
