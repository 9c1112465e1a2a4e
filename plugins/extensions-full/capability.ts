import { authorities, type Capability } from '#kernel';

/** Trust by an administrator: nothing is handed out by it, since nothing in this process can be kept from such code. */
export const fullCapability: Capability<true, undefined> = {
  name: 'full',
  schema: { const: true },
  bind: () => undefined,
  describe: () => authorities('may do', ['everything this process can do']),
  widens: (before) => before === undefined,
};
