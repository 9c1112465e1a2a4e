import { parseArgs } from 'node:util';
import type { KernelCommand } from '#kernel';
import type { ProviderFinding } from '../contract.ts';
import type { ParsedProviderVariables } from '../variables.ts';
import { checkProvider, type ProviderCheckDeps } from './check-provider.ts';

interface Deps extends ProviderCheckDeps {
  /** @throws BootFailure for names that cannot be */
  readonly readVariables: () => ParsedProviderVariables;
}

const USAGE = 'auth:check [<provider>] [--user <name>] [--group <name>]… [--json]';

/** Arguments that make no sense: the command ends with 2, and prints its usage. */
class UsageError extends Error {}

const OPTIONS = {
  user: { type: 'string' },
  group: { type: 'string', multiple: true },
  json: { type: 'boolean' },
} as const;

/** `auth:check`: looks at the sign-in providers. It ends with 1 where something fails, with 2 for arguments that make no sense. */
export const createCheckCommand = (deps: Deps): KernelCommand => ({
  name: 'auth:check',
  about: `looks at the sign-in providers, and says what to correct: ${USAGE}`,
  needs: 'migrate',
  check(args) {
    try {
      const [name] = parseArguments(args).positionals;
      const { providers } = deps.readVariables();
      if (providers.length === 0) return refuse('No sign-in provider is set up.');
      if (name === undefined || providers.some((one) => one.name === name)) return undefined;
      return refuse(`The sign-in providers are: ${providers.map((one) => one.name).join(', ')}.`);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return refuse(error.message);
    }
  },
  async run(args) {
    const { values, positionals } = parseArguments(args);
    const { providers } = deps.readVariables();
    const [name] = positionals;
    const chosen = name === undefined ? providers : providers.filter((one) => one.name === name);
    const question = values.user === undefined ? undefined : { user: values.user, groups: values.group };
    const reports: { provider: string; driver: string | null; findings: ProviderFinding[] }[] = [];
    for (const one of chosen) {
      const report = { provider: one.name, driver: one.texts.get('DRIVER') ?? null, findings: [] as ProviderFinding[] };
      reports.push(report);
      if (!values.json) print(`${one.name} (${report.driver})`);
      await checkProvider(deps, one, question, (finding) => {
        report.findings.push(finding);
        if (!values.json) print(renderFinding(finding));
      });
    }
    const countOf = (status: ProviderFinding['status']) =>
      reports.flatMap(({ findings }) => findings).filter((finding) => finding.status === status).length;
    const [failed, warnings] = [countOf('fail'), countOf('warn')];
    print(values.json ? JSON.stringify({ failed, warnings, providers: reports }) : renderSum(failed, warnings));
    return failed > 0 ? 1 : 0;
  },
});

/** @throws UsageError */
function parseArguments(args: readonly string[]) {
  const parsed = parseStrictly(args);
  if (parsed.positionals.length > 1) throw new UsageError('One provider at most is named.');
  if (parsed.values.group && parsed.values.user === undefined) throw new UsageError('--group belongs to --user.');
  return parsed;
}

function parseStrictly(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function refuse(line: string): number {
  process.stderr.write(`${line}\nUsage: ${USAGE}\n`);
  return 2;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Texts of providers have no control characters on a terminal. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

const renderFinding = ({ check, status, text, remedy }: ProviderFinding): string =>
  plain(`  ${status.padEnd(5)} ${check.padEnd(22)} ${text}`) +
  (remedy === undefined ? '' : `\n${plain(`${' '.repeat(31)}→ ${remedy}`)}`);

const renderSum = (failed: number, warnings: number): string =>
  failed + warnings === 0 ? 'Everything is in order.' : `${failed} failed, ${warnings} to look at.`;
