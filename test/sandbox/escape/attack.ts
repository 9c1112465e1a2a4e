import type { HostileService } from './hostile-service.ts';
import type { HostileProgram } from './programs.ts';

export interface Attack {
  readonly program: HostileProgram;
  /** 0 where there was no answer at all. */
  readonly status: number;
  readonly text: string;
  /** Milliseconds until the answer. */
  readonly took: number;
  /** What is wrong with the outcome; nothing where it was contained. */
  readonly complaint: string | undefined;
}

/** Longer than any deadline: a program that gets here has stopped the service from answering. */
const PATIENCE = 30_000;

/** Calls one program, and says what became of it. */
export async function attack(hostile: HostileService, program: HostileProgram): Promise<Attack> {
  const started = performance.now();
  const { status, text } = await answerOf(`${hostile.service.url}/${program.id}`);
  const took = performance.now() - started;
  const complaint =
    hostile.reached.length > 0 ? `it reached ${hostile.reached[0]}` : complaintAbout(program, status, text);
  return { program, status, text: text.slice(0, 300), took, complaint };
}

async function answerOf(url: string): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PATIENCE) });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    return { status: 0, text: String(error) };
  }
}

function complaintAbout({ expectation }: HostileProgram, status: number, text: string): string | undefined {
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
