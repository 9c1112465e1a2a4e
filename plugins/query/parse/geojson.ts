import { createInvalidQueryFailure, isObject, parseJsonParameter, type QueryErrorPath } from './raw-values.ts';

/** Levels of lists in the coordinates, by type. */
const COORDINATE_DEPTHS: ReadonlyMap<unknown, number> = new Map([
  ['Point', 1],
  ['MultiPoint', 2],
  ['LineString', 2],
  ['MultiLineString', 3],
  ['Polygon', 3],
  ['MultiPolygon', 4],
]);
const MAX_COLLECTIONS = 10;

/** Parses a GeoJSON geometry from an object or a text to a text. PostGIS would accept some malformed ones. */
export function parseGeoJson(raw: unknown, path: QueryErrorPath): string {
  const value = parseJsonParameter(raw, path);
  if (!isGeometry(value, 0)) throw createInvalidQueryFailure('must be a GeoJSON geometry', path);
  return JSON.stringify(value);
}

function isGeometry(value: unknown, depth: number): boolean {
  if (!isObject(value) || depth > MAX_COLLECTIONS) return false;
  if (value.type === 'GeometryCollection')
    return Array.isArray(value.geometries) && value.geometries.every((one) => isGeometry(one, depth + 1));
  const levels = COORDINATE_DEPTHS.get(value.type);
  return levels !== undefined && areCoordinates(value.coordinates, levels);
}

const areCoordinates = (list: unknown, levels: number): boolean =>
  Array.isArray(list) &&
  (levels > 1
    ? list.every((one) => areCoordinates(one, levels - 1))
    : list.length >= 2 && list.length <= 4 && list.every((one) => typeof one === 'number' && Number.isFinite(one)));
