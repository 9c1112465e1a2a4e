import { fail } from '#kernel';
import type { CollectionRecord, FieldRecord, RelationRecord } from '../../schema/contract.ts';
import type { ExtensionRuntime } from '../extension-runtime.ts';
import type { BaseServiceClass, ServiceMethodOptions } from './base-service.ts';
import { createVisibleSchemaReader } from './visible-schema.ts';

type Input = Readonly<Record<string, unknown>>;

const createMissing = (what: string) => fail('FORBIDDEN', `there is no ${what}, or it may not be read`);

/** What `CollectionsService`, `FieldsService` and `RelationsService` share. */
interface SchemaServiceDeps {
  readonly Acting: BaseServiceClass;
  readonly writes: ExtensionRuntime['deps']['schemaWrites'];
  readonly visible: ReturnType<typeof createVisibleSchemaReader>;
}

/** `CollectionsService`, `FieldsService` and `RelationsService`. Only admins may change the schema. */
export function createSchemaServices(runtime: ExtensionRuntime, Acting: BaseServiceClass) {
  const parts: SchemaServiceDeps = {
    Acting,
    writes: runtime.deps.schemaWrites,
    visible: createVisibleSchemaReader(runtime),
  };
  return {
    CollectionsService: createCollectionsService(parts),
    FieldsService: createFieldsService(parts),
    RelationsService: createRelationsService(parts),
  };
}

function createCollectionsService({ Acting, writes, visible }: SchemaServiceDeps) {
  return class CollectionsService extends Acting {
    readByQuery(options?: ServiceMethodOptions): Promise<CollectionRecord[]> {
      return this.act((caller) => visible.collections(caller), options);
    }

    async readMany(names: readonly string[], options?: ServiceMethodOptions): Promise<CollectionRecord[]> {
      const all = await this.readByQuery(options);
      return names.map((name) => {
        const one = all.find(({ collection }) => collection === name);
        if (!one) throw createMissing(`collection ${name}`);
        return one;
      });
    }

    async readOne(name: string, options?: ServiceMethodOptions): Promise<CollectionRecord> {
      return (await this.readMany([name], options))[0] as CollectionRecord;
    }

    createOne(payload: Input, options?: ServiceMethodOptions): Promise<string> {
      return this.act((caller) => writes.createCollection(caller, payload), options);
    }

    createMany(payloads: readonly Input[], options?: ServiceMethodOptions): Promise<string[]> {
      return this.act(
        (caller) =>
          writes.transaction(async () => {
            const names: string[] = [];
            for (const one of payloads) names.push(await writes.createCollection(caller, one));
            return names;
          }),
        options,
      );
    }

    updateOne(name: string, data: Input, options?: ServiceMethodOptions): Promise<string> {
      return this.act(async (caller) => {
        await writes.updateCollection(caller, name, data);
        return name;
      }, options);
    }

    updateMany(names: readonly string[], data: Input, options?: ServiceMethodOptions): Promise<string[]> {
      return this.act(
        (caller) =>
          writes.transaction(async () => {
            for (const name of names) await writes.updateCollection(caller, name, data);
            return [...names];
          }),
        options,
      );
    }

    deleteOne(name: string, options?: ServiceMethodOptions): Promise<string> {
      return this.act(async (caller) => {
        await writes.deleteCollection(caller, name);
        return name;
      }, options);
    }

    deleteMany(names: readonly string[], options?: ServiceMethodOptions): Promise<string[]> {
      return this.act(
        (caller) =>
          writes.transaction(async () => {
            for (const name of names) await writes.deleteCollection(caller, name);
            return [...names];
          }),
        options,
      );
    }
  };
}

function createFieldsService({ Acting, writes, visible }: SchemaServiceDeps) {
  return class FieldsService extends Acting {
    readAll(collection?: string, options?: ServiceMethodOptions): Promise<FieldRecord[]> {
      return this.act((caller) => visible.fields(caller, collection), options);
    }

    async readOne(collection: string, field: string, options?: ServiceMethodOptions): Promise<FieldRecord> {
      const one = (await this.readAll(collection, options)).find((record) => record.field === field);
      if (!one) throw createMissing(`field ${collection}.${field}`);
      return one;
    }

    createField(collection: string, field: Input, ...more: readonly unknown[]): Promise<string> {
      return this.act((caller) => writes.createField(caller, collection, field), findOptions(more));
    }

    updateField(collection: string, field: Input, options?: ServiceMethodOptions): Promise<string> {
      return this.act(async (caller) => {
        const name = parseFieldName(field);
        await writes.updateField(caller, collection, name, field);
        return name;
      }, options);
    }

    updateFields(collection: string, fields: readonly Input[], options?: ServiceMethodOptions): Promise<string[]> {
      return this.act(
        (caller) =>
          writes.transaction(async () => {
            for (const field of fields) await writes.updateField(caller, collection, parseFieldName(field), field);
            return fields.map(parseFieldName);
          }),
        options,
      );
    }

    deleteField(collection: string, field: string, options?: ServiceMethodOptions): Promise<void> {
      return this.act((caller) => writes.deleteField(caller, collection, field), options);
    }
  };
}

function createRelationsService({ Acting, writes, visible }: SchemaServiceDeps) {
  return class RelationsService extends Acting {
    readAll(collection?: string, options?: ServiceMethodOptions): Promise<RelationRecord[]> {
      return this.act((caller) => visible.relations(caller, collection), options);
    }

    async readOne(collection: string, field: string, options?: ServiceMethodOptions): Promise<RelationRecord> {
      const one = (await this.readAll(collection, options)).find((record) => record.field === field);
      if (!one) throw createMissing(`relation ${collection}.${field}`);
      return one;
    }

    createOne(relation: Input, options?: ServiceMethodOptions): Promise<void> {
      return this.act(async (caller) => void (await writes.createRelation(caller, relation)), options);
    }

    updateOne(collection: string, field: string, relation: Input, options?: ServiceMethodOptions): Promise<void> {
      return this.act((caller) => writes.updateRelation(caller, collection, field, relation), options);
    }

    deleteOne(collection: string, field: string, options?: ServiceMethodOptions): Promise<void> {
      return this.act((caller) => writes.deleteRelation(caller, collection, field), options);
    }
  };
}

function parseFieldName(field: Input): string {
  if (typeof field.field === 'string') return field.field;
  throw fail('INVALID_PAYLOAD', '"field" is required.', { field: 'field', path: ['field'] });
}

/** By convention a table builder may come before the options; it is not needed. */
const findOptions = (more: readonly unknown[]): ServiceMethodOptions | undefined =>
  more.find((one): one is ServiceMethodOptions => typeof one === 'object' && one !== null && 'emitEvents' in one);
