import { requestScope } from '#kernel';
import type { Invocation } from '../../broker/contract.ts';

/** What is read for a run ends with it, as what is read for a request ends with its client. */
export const runInInvocation = <T>({ id, signal }: Invocation, work: () => Promise<T>): Promise<T> => {
  const scope = requestScope.getStore();
  const invocation = scope?.invocation;
  return requestScope.run({ id: scope?.id ?? id, ...(invocation === undefined ? {} : { invocation }), signal }, work);
};
