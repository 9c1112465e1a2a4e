import { ReferenceReads } from './reference-reads.ts';
import type { CallerPermissions, Model, Rows } from './shapes.ts';

/** What somebody's schema has to have, worked out from the permissions alone. */
export class VisibleSchema extends ReferenceReads {
  private readonly readableTypes: ReadonlySet<string>;

  constructor(model: Model, rows: Rows, callerPermissions: CallerPermissions) {
    super(model, rows, callerPermissions);
    this.readableTypes = this.findReadableTypes();
  }

  /** Has the collection a type, and anything in it? */
  hasReadableType(collection: string): boolean {
    return this.readableTypes.has(collection);
  }

  keyOf(collection: string): readonly string[] {
    return (this.model[collection] as Model[string]).key;
  }

  /** Can rows of it be written inside the payload of another row? */
  isNestable(collection: string): boolean {
    return this.of(collection, 'create').length > 0 || this.of(collection, 'update').length > 0;
  }

  /** Can a payload name the field? Lists need something that can be in them. */
  isWritable(collection: string, action: 'create' | 'update', field: string): boolean {
    const { toMany } = this.model[collection] as Model[string];
    if (toMany[field] && !this.isNestable(toMany[field].to)) return false;
    return this.of(collection, action).some((one) => this.listsField(one, collection, field));
  }

  /** Is there a column that a new row can have? */
  isCreatable(collection: string): boolean {
    const { toMany } = this.model[collection] as Model[string];
    return this.all(collection).some((field) => !toMany[field] && this.isWritable(collection, 'create', field));
  }

  /** Is there anything that can be changed? */
  isUpdatable(collection: string): boolean {
    const updatePermissions = this.of(collection, 'update');
    return this.all(collection).some((field) =>
      updatePermissions.some((one) => this.listsField(one, collection, field)),
    );
  }

  /** Lists of rows that are not there are not there either, which may leave nothing. */
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
