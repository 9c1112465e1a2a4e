import { Reference } from './reading.ts';
import type { Eyes, Model, Rows } from './shapes.ts';

/** What somebody's schema has to have, worked out from the permissions alone. */
export class Sight extends Reference {
  private readonly shownAtAll: ReadonlySet<string>;

  constructor(model: Model, rows: Rows, eyes: Eyes) {
    super(model, rows, eyes);
    this.shownAtAll = this.collectionsShown();
  }

  /** Has the collection a type, and anything in it? */
  opens(collection: string): boolean {
    return this.shownAtAll.has(collection);
  }

  keyOf(collection: string): readonly string[] {
    return (this.model[collection] as Model[string]).key;
  }

  /** Can rows of it be written inside the payload of another row? */
  nests(collection: string): boolean {
    return this.of(collection, 'create').length > 0 || this.of(collection, 'update').length > 0;
  }

  /** Can a payload name the field? Lists need something that can be in them. */
  takes(collection: string, action: 'create' | 'update', field: string): boolean {
    const { manys } = this.model[collection] as Model[string];
    if (manys[field] && !this.nests(manys[field].to)) return false;
    return this.of(collection, action).some((one) => this.lists(one, collection, field));
  }

  /** Is there a column that a new row can have? */
  creates(collection: string): boolean {
    const { manys } = this.model[collection] as Model[string];
    return this.all(collection).some((field) => !manys[field] && this.takes(collection, 'create', field));
  }

  /** Is there anything that can be changed? */
  changes(collection: string): boolean {
    const may = this.of(collection, 'update');
    return this.all(collection).some((field) => may.some((one) => this.lists(one, collection, field)));
  }

  /** Lists of rows that are not there are not there either, which may leave nothing. */
  private collectionsShown(): ReadonlySet<string> {
    let left = Object.keys(this.model).filter((name) => this.of(name, 'read').length > 0);
    for (let before = -1; before !== left.length; ) {
      before = left.length;
      const shown = left;
      left = shown.filter((name) =>
        this.all(name).some((field) => {
          const many = this.model[name]?.manys[field];
          return this.readable(name, field) && (!many || shown.includes(many.to));
        }),
      );
    }
    return new Set(left);
  }
}
