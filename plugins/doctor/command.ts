import { parseArgs } from 'node:util';
import type { KernelCommand } from '#kernel';
import type { DoctorCheck, DoctorFinding } from './contract.ts';

/** Milliseconds that one check may take. */
const TIMEOUT = 30_000;
const USAGE = 'doctor [--json]';

interface CheckReport {
  readonly check: string;
  readonly findings: readonly DoctorFinding[];
}

/**
 * `doctor`: looks at settings, database, storage, mail and confinement without a start, and says what to do. It ends with 1 where something
 * fails, with 2 for arguments that make no sense.
 */
export const createDoctorCommand = (checks: () => readonly DoctorCheck[], timeout = TIMEOUT): KernelCommand => ({
  name: 'doctor',
  about: `looks at settings, database, storage, mail and sandbox without a start, and says what to correct: ${USAGE}`,
  async run(args) {
    const isJson = parseJsonOption(args);
    if (isJson === undefined) {
      process.stderr.write(`Usage: ${USAGE}\n`);
      return 2;
    }
    const reports: CheckReport[] = [];
    // One after the other: a check must not fail because another one takes its connections or its processor time.
    for (const check of checks()) {
      const report = { check: check.name, findings: await runCheck(check, timeout) };
      reports.push(report);
      if (!isJson) for (const finding of report.findings) print(renderFinding(check.name, finding));
    }
    const countOf = (status: DoctorFinding['status']) =>
      reports.flatMap(({ findings }) => findings).filter((finding) => finding.status === status).length;
    const [failed, warnings] = [countOf('fail'), countOf('warn')];
    print(isJson ? JSON.stringify({ failed, warnings, checks: reports }) : renderSum(failed, warnings));
    return failed > 0 ? 1 : 0;
  },
});

function parseJsonOption(args: readonly string[]): boolean | undefined {
  try {
    return parseArgs({ args: [...args], options: { json: { type: 'boolean' } }, strict: true }).values.json ?? false;
  } catch {
    return undefined;
  }
}

async function runCheck(check: DoctorCheck, timeout: number): Promise<readonly DoctorFinding[]> {
  const { promise: late, resolve } = Promise.withResolvers<readonly DoctorFinding[]>();
  const text = `no answer within ${timeout / 1000} s`;
  const remedy = 'look whether the server that it asks is reached and answers';
  const timer = setTimeout(() => resolve([{ status: 'fail', text, remedy }]), timeout);
  try {
    return await Promise.race([check.run(), late]);
  } catch (error) {
    return [toFinding(error)];
  } finally {
    clearTimeout(timer);
  }
}

function toFinding(error: unknown): DoctorFinding {
  const { message, detail, remedy } = error as { message?: string; detail?: string; remedy?: string };
  return {
    status: 'fail',
    text: detail ?? message ?? String(error),
    remedy: remedy ?? 'correct the settings of this part of the service',
  };
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Texts of servers have no control characters on a terminal. */
const plain = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');

const renderFinding = (check: string, { status, text, remedy }: DoctorFinding): string =>
  plain(`${status.padEnd(5)} ${check.padEnd(12)} ${text}`) +
  (remedy === undefined ? '' : `\n${plain(`${' '.repeat(19)}→ ${remedy}`)}`);

const renderSum = (failed: number, warnings: number): string =>
  failed + warnings === 0 ? 'Everything is in order.' : `${failed} failed, ${warnings} to look at.`;
