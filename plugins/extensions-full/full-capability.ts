import { authorities, type Capability } from '#kernel';

/** Full authority. The capability binds nothing, because code in this process can reach everything anyway. */
export const fullAuthorityCapability: Capability<true, undefined> = {
  name: 'full',
  schema: { const: true },
  bind: () => undefined,
  describe: () => authorities('may do', ['everything this process can do']),
  widens: (before) => before === undefined,
};
