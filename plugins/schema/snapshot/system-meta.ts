import type { CollectionMeta, FieldMeta, RelationMeta, SystemCollection, SystemField } from '../contract.ts';
import { isNullableSystemField } from '../system/column-definition.ts';
import { toCollectionMeta, toFieldMeta, toRelationMeta } from './registry-rows.ts';

/** Builds `meta` of system collections, fields and relations from their declarations. */
export const buildSystemCollectionMeta = ({
  collection,
  note,
  singleton,
  accountability = 'all',
}: SystemCollection): CollectionMeta => ({
  ...toCollectionMeta({ collection, note, singleton: singleton === true, accountability }),
  system: true,
});

export const buildSystemFieldMeta = (collection: string, field: SystemField, at: number): FieldMeta => ({
  ...toFieldMeta({ collection, field: field.field, width: 'full', sort: at + 1 }),
  special: field.special?.length ? field.special : null,
  hidden: field.hidden === true,
  required: !field.primary && !isNullableSystemField(field) && field.default === undefined,
  searchable: field.searchable !== false,
  system: true,
});

export const buildSystemAliasMeta = (collection: string, alias: string): FieldMeta => ({
  ...toFieldMeta({ collection, field: alias, width: 'full', special: 'o2m' }),
  system: true,
});

export const buildSystemRelationMeta = (collection: string, { field, references }: SystemField): RelationMeta => ({
  ...toRelationMeta({
    many_collection: collection,
    many_field: field,
    one_collection: references?.collection,
    one_field: references?.alias,
    one_deselect_action: references?.deselect,
  }),
  system: true,
});
