import type { RawQuery } from '../../query/contract.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';
import type { BaseServiceClass } from './base-service.ts';

/** `MetaService`: the counts that `meta` of a query asks for. */
export const createMetaServiceClass = ({ deps }: ExtensionRuntime, Acting: BaseServiceClass) =>
  class MetaService extends Acting {
    getMetaForQuery(collection: string, query: RawQuery): Promise<Readonly<Record<string, number>> | undefined> {
      return this.act(async (caller) => {
        if (query.meta === undefined) return undefined;
        const { meta } = await deps.items.readMany(caller, collection, { ...query, limit: 1 });
        return meta === undefined || meta === null ? undefined : JSON.parse(meta);
      });
    }
  };
