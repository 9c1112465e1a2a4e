import { errorEnvelope, Failure, Failures } from '#kernel';

/** A failure as the data of a run has it (conventions, "Run model"). */
export interface FlowErrorValue {
  readonly message: string;
  readonly name?: string;
  readonly code?: string;
  readonly status?: number;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The value of a thrown error that is data of the run: messages as the caller of the run may see them, never a stack. */
export function toErrorValue(error: unknown, reader: { readonly admin: boolean }): unknown {
  if (error instanceof Failures) return error.failures.map((one) => toFailureValue(one, reader));
  if (error instanceof Failure) return toFailureValue(error, reader);
  if (error instanceof Error) {
    if (typeof (error as { toJSON?: unknown }).toJSON === 'function') return JSON.parse(JSON.stringify(error));
    const { name, message, code, status, extensions } = error as Error & Partial<Record<keyof FlowErrorValue, unknown>>;
    return { name, message, ...optional({ code, status, extensions }) };
  }
  if (typeof error !== 'string') return error === undefined ? null : error;
  try {
    return JSON.parse(error);
  } catch {
    return error;
  }
}

function toFailureValue(failure: Failure, reader: { readonly admin: boolean }): FlowErrorValue {
  const [shown] = errorEnvelope(failure, reader).body.errors;
  const { code, ...extensions } = shown?.extensions ?? {};
  return {
    name: failure.name,
    message: shown?.message ?? '',
    code: String(code),
    status: failure.status,
    extensions: { ...extensions, code },
  };
}

const optional = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
