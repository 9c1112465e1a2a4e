import type { SystemCollection } from '../contract.ts';

const flag = (field: string, value: boolean) => ({ field, type: 'boolean', default: String(value) }) as const;
const json = (field: string) => ({ field, type: 'json', special: ['cast-json'], nullable: true }) as const;
const string = (field: string, maxLength = 255) => ({ field, type: 'string', maxLength, nullable: true }) as const;
const text = (field: string) => ({ field, type: 'text', nullable: true }) as const;
const csv = (field: string) => ({ field, type: 'csv', special: ['cast-csv'], nullable: true }) as const;
const name = (field: string) => ({ field, type: 'string', maxLength: 64 }) as const;
const integer = (field: string) => ({ field, type: 'integer', nullable: true }) as const;
const id = { field: 'id', type: 'integer', primary: true, autoIncrement: true } as const;

/** The registry: system collections for the `meta` of collections, fields and relations. */
export const registryCollections: readonly SystemCollection[] = [
  {
    collection: 'platform_collections',
    note: 'What is known about collections beside their tables',
    verbs: [],
    fields: [
      { field: 'collection', type: 'string', maxLength: 64, primary: true },
      string('icon', 64),
      text('note'),
      string('color'),
      string('display_template'),
      flag('hidden', false),
      flag('singleton', false),
      json('translations'),
      string('archive_field', 64),
      string('archive_value'),
      string('unarchive_value'),
      flag('archive_app_filter', true),
      string('sort_field', 64),
      { ...string('accountability'), default: "'all'" },
      json('item_duplication_fields'),
      integer('sort'),
      string('group', 64),
      { field: 'collapse', type: 'string', default: "'open'" },
    ],
  },
  {
    collection: 'platform_fields',
    note: 'What is known about fields beside their columns',
    verbs: [],
    fields: [
      id,
      name('collection'),
      name('field'),
      csv('special'),
      string('interface', 64),
      json('options'),
      string('display', 64),
      json('display_options'),
      flag('readonly', false),
      flag('hidden', false),
      flag('required', false),
      integer('sort'),
      { ...string('width', 30), default: "'full'" },
      string('group', 64),
      json('translations'),
      text('note'),
      json('conditions'),
      json('validation'),
      text('validation_message'),
      flag('searchable', true),
    ],
    unique: [['collection', 'field']],
  },
  {
    collection: 'platform_relations',
    note: 'What is known about relations beside their constraints',
    verbs: [],
    fields: [
      id,
      name('many_collection'),
      name('many_field'),
      string('one_collection', 64),
      string('one_field', 64),
      string('one_collection_field', 64),
      csv('one_allowed_collections'),
      string('junction_field', 64),
      string('sort_field', 64),
      { field: 'one_deselect_action', type: 'string', default: "'nullify'" },
    ],
    unique: [['many_collection', 'many_field']],
  },
];
