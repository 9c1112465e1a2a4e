import { ReferenceReads } from './reference-reads.ts';
import type { CallerPermissions, Model, Rows } from './shapes.ts';

/** What the GraphQL schema of a person must have, derived from the permissions alone. */
export class VisibleSchema extends ReferenceReads {
  private readonly readableTypes: ReadonlySet<string>;

  constructor(model: Model, rows: Rows, callerPermissions: CallerPermissions) {
    super(model, rows, callerPermissions);
    this.readableTypes = this.findReadableTypes();
  }

  /** Whether the collection has a type with at least one field. */
  hasReadableType(collection: string): boolean {
    return this.readableTypes.has(collection);
  }

  keyOf(collection: string): readonly string[] {
    return (this.model[collection] as Model[string]).key;
  }

  /** Whether the key of rows is an input of its columns: a composite key, each column of which may be read or written. */
  hasKeyInput(collection: string): boolean {
    const key = this.keyOf(collection);
    const isKnown = (field: string) =>
      this.isReadable(collection, field) ||
      this.isWritable(collection, 'create', field) ||
      this.isWritable(collection, 'update', field);
    return key.length > 1 && key.every(isKnown);
  }

  /** Whether rows can be written inside the payload of another row. */
  isNestable(collection: string): boolean {
    return this.of(collection, 'create').length > 0 || this.of(collection, 'update').length > 0;
  }

  /** Whether a payload may have the field. A list also needs rows that can be written. */
  isWritable(collection: string, action: 'create' | 'update', field: string): boolean {
    const { toMany } = this.model[collection] as Model[string];
    if (toMany[field] && !this.isNestable(toMany[field].to)) return false;
    return this.of(collection, action).some((one) => this.listsField(one, collection, field));
  }

  /** Whether a create may have any column. */
  isCreatable(collection: string): boolean {
    const { toMany } = this.model[collection] as Model[string];
    return this.all(collection).some((field) => !toMany[field] && this.isWritable(collection, 'create', field));
  }

  /** Whether an update may have any field. */
  isUpdatable(collection: string): boolean {
    const updatePermissions = this.of(collection, 'update');
    return this.all(collection).some((field) =>
      updatePermissions.some((one) => this.listsField(one, collection, field)),
    );
  }

  /** Aliases of collections without a type do not exist, which may leave further types without fields. */
  private findReadableTypes(): ReadonlySet<string> {
    let left = Object.keys(this.model).filter((name) => this.of(name, 'read').length > 0);
    for (let before = -1; before !== left.length; ) {
      before = left.length;
      const shown = left;
      left = shown.filter((name) =>
        this.all(name).some((field) => {
          const many = this.model[name]?.toMany[field];
          return this.isReadable(name, field) && (!many || shown.includes(many.to));
        }),
      );
    }
    return new Set(left);
  }
}
