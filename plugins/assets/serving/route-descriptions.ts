import type { RouteDescription } from '../../http/contract.ts';
import {
  BOOLEAN_SCHEMA,
  describeJsonBody,
  describeParameter,
  enumSchema,
  INTEGER_SCHEMA,
  listSchema,
  objectSchema,
  TEXT_SCHEMA,
} from '../../http/library.ts';

const atLeast = (minimum: number, maximum?: number) => ({
  ...INTEGER_SCHEMA,
  minimum,
  ...(maximum === undefined ? {} : { maximum }),
});

const id = describeParameter('The id of the file.');

export const ASSET_ROUTE_DESCRIPTION: RouteDescription = {
  readsCookie: true,
  summary: 'Sends the bytes of a file, whole or in ranges, or an image made of them.',
  tag: 'assets',
  access: 'permissions',
  params: { id },
  query: {
    download: describeParameter('Makes it a download; anything but "false".'),
    key: describeParameter('The name of a preset of the settings; in the place of all below.'),
    width: describeParameter('Pixels.', atLeast(1)),
    height: describeParameter('Pixels.', atLeast(1)),
    fit: describeParameter('How an image fills width and height.', enumSchema('cover', 'contain', 'inside', 'outside')),
    format: describeParameter('The format of the image.', enumSchema('jpg', 'png', 'webp', 'tiff', 'avif', 'auto')),
    quality: describeParameter('Percent.', atLeast(1, 100)),
    withoutEnlargement: describeParameter('Leaves images as small as they are.', BOOLEAN_SCHEMA),
    focal_point_x: describeParameter('Pixels from the left that stay in sight when the image is cut.', atLeast(0)),
    focal_point_y: describeParameter('Pixels from the top that stay in sight when the image is cut.', atLeast(0)),
    transforms: describeParameter('A list of further operations with their arguments, as JSON.'),
  },
  answers: { 200: { '*/*': {} }, 206: { '*/*': {} } },
  errors: ['ILLEGAL_ASSET_TRANSFORMATION', 'RANGE_NOT_SATISFIABLE'],
};

export const NAMED_ASSET_ROUTE_DESCRIPTION: RouteDescription = {
  ...ASSET_ROUTE_DESCRIPTION,
  params: { id, filename: describeParameter('Any name, under which pages show and save it.') },
};

const ZIP_ANSWER = { 200: { 'application/zip': {} } };

export const DOWNLOAD_FILES_ROUTE_DESCRIPTION: RouteDescription = {
  summary: 'Sends several files in one archive; FORBIDDEN where one of them may not be read.',
  tag: 'assets',
  access: 'permissions',
  body: describeJsonBody(objectSchema({ ids: { ...listSchema(TEXT_SCHEMA), minItems: 1 } }, ['ids'])),
  answers: ZIP_ANSWER,
};

export const DOWNLOAD_FOLDER_ROUTE_DESCRIPTION: RouteDescription = {
  summary: 'Sends what the caller may read of a folder and the folders in it, in one archive.',
  tag: 'assets',
  access: 'permissions',
  params: { id: describeParameter('The id of the folder.') },
  answers: ZIP_ANSWER,
};
