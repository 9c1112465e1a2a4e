import { requestScope } from '#kernel';
import type { ConfinedCodeInvocation } from '../../broker/contract.ts';

/** Runs `work` so that its reads are cancelled with the invocation, as the reads of a request are with its client. */
export const runInInvocation = <T>({ id, signal }: ConfinedCodeInvocation, work: () => Promise<T>): Promise<T> => {
  const scope = requestScope.getStore();
  const { invocation, trace } = scope ?? {};
  return requestScope.run({ id: scope?.id ?? id, invocation, trace, signal }, work);
};
