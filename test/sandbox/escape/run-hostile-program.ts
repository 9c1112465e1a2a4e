import type { HostileService } from './hostile-service.ts';
import type { HostileProgram } from './programs.ts';

export interface HostileRun {
  readonly program: HostileProgram;
  /** 0 where there was no response. */
  readonly status: number;
  readonly text: string;
  /** Milliseconds until the answer. */
  readonly durationMs: number;
  /** What is wrong with the outcome; undefined where the program was contained. */
  readonly problem: string | undefined;
}

/** Longer than any deadline: a program that reaches it has blocked the service. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Calls one program and reports the outcome. */
export async function runHostileProgram(hostile: HostileService, program: HostileProgram): Promise<HostileRun> {
  const started = performance.now();
  const { status, text } = await fetchAnswer(`${hostile.service.url}/${program.id}`);
  const durationMs = performance.now() - started;
  const problem =
    hostile.reachedRequests.length > 0
      ? `it reached ${hostile.reachedRequests[0]}`
      : findProblem(program, status, text);
  return { program, status, text: text.slice(0, 300), durationMs, problem };
}

async function fetchAnswer(url: string): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

function findProblem({ expectation }: HostileProgram, status: number, text: string): string | undefined {
  if (status === 0) return `no answer: ${text}`;
  if (/ESCAPED|a secret of the database|root:x:/.test(text)) return `it got out: ${text.slice(0, 300)}`;
  switch (expectation.kind) {
    case 'refused':
      return status === 404 ? undefined : `it was loaded, and answered ${status}`;
    case 'fails':
      return status === 500 || status === 503 ? undefined : `it answered ${status}: ${text.slice(0, 200)}`;
    case 'status':
      return status === expectation.status ? undefined : `it answered ${status}: ${text.slice(0, 200)}`;
    case 'answered':
      return status === 404 ? 'it was not loaded' : undefined;
  }
}
