import { ReferenceReadExecutor } from './reference-reads.ts';
import type { CallerPermissions, PermissionTestModel, PermissionTestRowsByCollection } from './reference-types.ts';

/** Derives from the permissions of a person what the GraphQL schema of this person must contain. */
export class ExpectedGraphqlSchema extends ReferenceReadExecutor {
  private readonly readableTypes: ReadonlySet<string>;

  constructor(model: PermissionTestModel, rows: PermissionTestRowsByCollection, callerPermissions: CallerPermissions) {
    super(model, rows, callerPermissions);
    this.readableTypes = this.findReadableTypes();
  }

  /** Whether the schema has an object type of the collection, which needs at least one readable field. */
  hasReadableType(collection: string): boolean {
    return this.readableTypes.has(collection);
  }

  keyOf(collection: string): readonly string[] {
    return (this.model[collection] as PermissionTestModel[string]).key;
  }

  /** Whether the schema has an input type for the key: it is composite, and the person may read or write each of its columns. */
  hasKeyInput(collection: string): boolean {
    const key = this.keyOf(collection);
    const isKnown = (field: string) =>
      this.isReadable(collection, field) ||
      this.isWritable(collection, 'create', field) ||
      this.isWritable(collection, 'update', field);
    return key.length > 1 && key.every(isKnown);
  }

  /** Whether the person may write rows of the collection inside the payload of another row. */
  isNestable(collection: string): boolean {
    return this.of(collection, 'create').length > 0 || this.of(collection, 'update').length > 0;
  }

  /** Whether a payload may have the field. For a to-many alias the person must also be able to write the related rows. */
  isWritable(collection: string, action: 'create' | 'update', field: string): boolean {
    const { toMany } = this.model[collection] as PermissionTestModel[string];
    if (toMany[field] && !this.isNestable(toMany[field].to)) return false;
    return this.of(collection, action).some((one) => this.listsField(one, collection, field));
  }

  /** Whether the person may create rows with at least one column. */
  isCreatable(collection: string): boolean {
    const { toMany } = this.model[collection] as PermissionTestModel[string];
    return this.all(collection).some((field) => !toMany[field] && this.isWritable(collection, 'create', field));
  }

  /** Whether the person may update at least one field. */
  isUpdatable(collection: string): boolean {
    const updatePermissions = this.of(collection, 'update');
    return this.all(collection).some((field) =>
      updatePermissions.some((one) => this.listsField(one, collection, field)),
    );
  }

  /** Removes types without fields until none is left: a to-many alias is no field if the related collection has no type. */
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
