/**
 * Where a row of a table without a key lies (`tableoid` and `ctid`). It holds within one transaction, so code alone may carry it from a
 * statement to the next: as JSON it is null, and no request can make one.
 */
export class RowLocation {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): null {
    return null;
  }
}
