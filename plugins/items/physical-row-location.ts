/**
 * The location of a row of a table without a key (`tableoid` and `ctid`). It is valid within one transaction, so only
 * code may pass it from a statement to the next: its JSON is null, and no request can contain one.
 */
export class PhysicalRowLocation {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): null {
    return null;
  }
}
