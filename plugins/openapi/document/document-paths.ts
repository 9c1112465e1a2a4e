import type { OpenApiOperation, OpenApiPathItem } from '../contract.ts';
import type { DocumentedRoute } from './documented-route.ts';
import { hashName, toPathTemplate } from './names.ts';
import { addOperation, hasOperation, type OperationNames, operationMethodOf, renderOperation } from './operation.ts';
import { ResponseRenderer } from './responses.ts';
import type { ReplaceRows } from './schemas-of-rows.ts';

/** The path items of a document. */
export class DocumentPaths {
  readonly responses: ResponseRenderer;
  readonly tags: string[] = [];
  readonly collectionsByTag = new Map<string, string>();
  readonly replaceRows: ReplaceRows;
  readonly #items = new Map<string, Record<string, unknown>>();
  readonly #operationIds = new Set<string>();

  constructor(replaceRows: ReplaceRows) {
    this.replaceRows = replaceRows;
    this.responses = new ResponseRenderer(replaceRows);
  }

  /** Adds the operation of a route; of several routes with one method and path the first, which is the one that answers. */
  add(route: DocumentedRoute, names: OperationNames = {}): void {
    // Such a route only refuses other methods, which a document leaves out.
    if (route.method === '*' && Object.keys(route.description.answers).length === 0) return;
    const method = operationMethodOf(route.method);
    const template = toPathTemplate(route.path);
    const item = this.#items.get(template) ?? {};
    if (hasOperation(item, method)) return;
    const operation = renderOperation(route, { replaceRows: this.replaceRows, responses: this.responses }, names);
    addOperation(item, method, this.#withUniqueId(operation, `${method} ${template}`));
    this.#items.set(template, item);
    this.tags.push(...operation.tags);
  }

  get items(): Readonly<Record<string, OpenApiPathItem>> {
    return Object.fromEntries(this.#items) as Readonly<Record<string, OpenApiPathItem>>;
  }

  /** Paths may differ in signs that an id does not have. */
  #withUniqueId(operation: OpenApiOperation, place: string): OpenApiOperation {
    const isTaken = this.#operationIds.has(operation.operationId);
    const operationId = isTaken ? `${operation.operationId}_${hashName(place)}` : operation.operationId;
    this.#operationIds.add(operationId);
    return { ...operation, operationId };
  }
}
