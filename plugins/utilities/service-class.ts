import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ItemsEngine } from '../items/contract.ts';
import type { RevertItem } from './revert.ts';

/** `UtilsService` of code with full authority. */
export const utilsServiceClass = (items: Pick<ItemsEngine, 'moveBefore'>, revert: RevertItem): ServiceClass => ({
  name: 'UtilsService',
  methods: {
    sort(caller, [collection, move]) {
      const { item, to } = move as { readonly item: unknown; readonly to: unknown };
      return items.moveBefore(caller, collection as string, item, to);
    },
    revert: (caller, [revision]) => revert(caller, String(revision)),
  },
});
