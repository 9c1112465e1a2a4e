import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProviderFinding } from '../../../plugins/auth-providers/contract.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { runCommand } from '../../support/run-command.ts';
import { QUICK_HASH_SETTINGS, TEST_SECRET } from '../../support/service.ts';

/** What `auth check --json` prints. */
export interface CheckReport {
  readonly failed: number;
  readonly warnings: number;
  readonly providers: readonly {
    readonly provider: string;
    readonly driver: string | null;
    readonly findings: readonly ProviderFinding[];
  }[];
}

export interface CheckRun {
  readonly code: number | null;
  /** Standard output. */
  readonly text: string;
  /** Both outputs. */
  readonly all: string;
}

/** Runs the command with these settings of providers. */
export async function runAuthCheck(
  database: Pick<FreshDatabase, 'url'>,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CheckRun> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-auth-check-'));
  try {
    const { code, output, standardOutput } = await runCommand(['auth', 'check', ...args], {
      ...QUICK_HASH_SETTINGS,
      SECRET: TEST_SECRET,
      DATA_PATH: folder,
      EXTENSIONS_PATH: join(folder, 'extensions'),
      DB_CONNECTION_STRING: database.url,
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'warn',
      ...settings,
    });
    return { code, text: standardOutput, all: output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The report of a run with `--json`; where it is none, the test shows what was printed. */
export function reportOf({ text, all }: CheckRun): CheckReport {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the command prints no report:\n${all}`);
  }
}

/** The findings of one provider that are not `ok`, each as `fail bind`. */
export const problemsOf = ({ providers }: CheckReport, name: string): readonly string[] =>
  findingsOf({ providers }, name).flatMap(({ status, check }) => (status === 'ok' ? [] : [`${status} ${check}`]));

export const findingsOf = ({ providers }: Pick<CheckReport, 'providers'>, name: string): readonly ProviderFinding[] =>
  providers.find(({ provider }) => provider === name)?.findings ?? [];

/** One finding as text, with its remedy. */
export function textOf(report: CheckReport, name: string, check: string): string {
  const finding = findingsOf(report, name).find((one) => one.check === check);
  return `${finding?.status}: ${finding?.text} → ${finding?.remedy}`;
}

/** Settings of one provider, such as `AUTH_CORP_CLIENT_URL` for `CLIENT_URL`. */
export const providerSettings = (
  name: string,
  settings: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`AUTH_${name.toUpperCase()}_${key}`, value]));

/** A provider, the one problem that the check finds (`fail bind`), and what it says about it. */
export type CheckCase = readonly [provider: string, problem: string, says: string | RegExp];

/**
 * One test for each case. `isOrdinary` says which problems a provider without a fault has in this test, for example since the service
 * does not run.
 */
export function testCheckFindings(
  cases: readonly CheckCase[],
  report: () => CheckReport,
  isOrdinary: (problem: string, provider: string) => boolean = () => false,
): void {
  for (const [provider, problem, says] of cases)
    it(`of ${provider}: finds ${problem}, and says what to do`, () => {
      const problems = problemsOf(report(), provider).filter((one) => !isOrdinary(one, provider));
      expect(problems, JSON.stringify(findingsOf(report(), provider))).to.deep.equal([problem]);
      const text = textOf(report(), provider, problem.replace(/^\w+ /, ''));
      if (typeof says === 'string') expect(text).to.contain(says);
      else expect(text).to.match(says);
    });
}
