import { setTimeout as pause } from 'node:timers/promises';
import type { HostileProgram } from './hostile-programs.ts';
import type { HostileService } from './hostile-service.ts';

export interface HostileRun {
  readonly program: HostileProgram;
  /** HTTP status of the response; 0 where there was none. */
  readonly status: number;
  readonly text: string;
  /** Milliseconds until the answer. */
  readonly durationMs: number;
  /** How the program escaped or missed its expected outcome; undefined where it was contained. */
  readonly problem: string | undefined;
}

/** Longer than any deadline of the service: a program without a response after that has blocked the service. */
const ANSWER_TIMEOUT_MS = 30_000;
const MAX_RETRIES = 20;
const RETRY_AFTER_MS = 1000;

/** Sends a request to one hostile program and checks the outcome. */
export async function runHostileProgram(hostile: HostileService, program: HostileProgram): Promise<HostileRun> {
  let started = performance.now();
  const url = `${hostile.service.url}${hostile.pathOf(program)}`;
  let { status, text } = await fetchAnswer(url);
  // On a busy machine no process may be free in time. The answer asks the client to try again, as clients do.
  for (let retry = 0; retry < MAX_RETRIES && isBusy(program, status); retry++) {
    await pause(RETRY_AFTER_MS);
    started = performance.now();
    ({ status, text } = await fetchAnswer(url));
  }
  const durationMs = performance.now() - started;
  const problem =
    hostile.reachedRequests.length > 0
      ? `it reached ${hostile.reachedRequests[0]}`
      : findProblem(program, status, text);
  return { program, status, text: text.slice(0, 300), durationMs, problem };
}

const isBusy = ({ expectation }: HostileProgram, status: number): boolean =>
  status === 503 && expectation.kind === 'status' && expectation.status !== 503;

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
