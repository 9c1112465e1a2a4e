SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE FUNCTION public.platform_access_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        perform pg_notify('platform_bus', '{"channel":"access.changed","payload":null}');
        return null;
      end $$;
CREATE FUNCTION public.platform_assets_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        perform pg_notify('platform_bus', '{"channel":"assets.files","payload":null}');
        return null;
      end $$;
CREATE FUNCTION public.platform_files_let_go() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        if tg_op = 'TRUNCATE' then
          insert into "public"."platform_loose_objects" (storage, name) select storage, filename_disk from "public"."platform_files" where filename_disk is not null;
        else
          insert into "public"."platform_loose_objects" (storage, name) values (old.storage, old.filename_disk);
        end if;
        perform pg_notify('platform_bus', '{"channel":"files.loose","payload":null}');
        return null;
      end $$;
CREATE FUNCTION public.platform_folders_tree() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        if tg_level = 'STATEMENT' then
          perform pg_advisory_xact_lock(hashtext('platform_folders.parent'));
        elsif exists (
          with recursive above (id, parent) as (
            select f.id, f.parent from "public"."platform_folders" f where f.id = new.parent
            union
            select f.id, f.parent from "public"."platform_folders" f join above on f.id = above.parent
          )
          select from above where above.id = new.id
        ) then
          raise exception 'A folder cannot be in itself or in a folder below it.' using constraint = 'platform_folders_tree';
        end if;
        return null;
      end $$;
CREATE FUNCTION public.platform_role_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      declare
        base text := trim(both '_' from left(regexp_replace(lower(new.name), '[^a-z0-9]+', '_', 'g'), 200));
        candidate text;
        number integer := 1;
      begin
        if new.key is not null then return new; end if;
        perform pg_advisory_xact_lock(hashtext('platform_roles.key'));
        if base = '' or base ~ '^[0-9]' then base := rtrim('role_' || base, '_'); end if;
        candidate := base;
        while candidate = 'public' or exists (select from "public"."platform_roles" r where r.key = candidate) loop
          number := number + 1;
          candidate := base || '_' || number;
        end loop;
        new.key := candidate;
        return new;
      end $$;
CREATE FUNCTION public.platform_settings_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        perform pg_notify('platform_bus', '{"channel":"settings.changed","payload":null}');
        return null;
      end $$;
CREATE FUNCTION public.platform_standing_changed() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
      begin
        perform pg_notify('platform_bus', '{"channel":"auth.standing","payload":null}');
        return null;
      end $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.platform_activity (
    id integer NOT NULL,
    action character varying(45) NOT NULL,
    "user" uuid,
    "timestamp" timestamp with time zone DEFAULT now() NOT NULL,
    ip character varying(50),
    user_agent character varying(255),
    origin character varying(255),
    collection character varying(255) NOT NULL,
    item character varying(255) NOT NULL,
    comment text,
    owner character varying(255),
    invocation character varying(255)
);
COMMENT ON TABLE public.platform_activity IS 'system collection';
CREATE SEQUENCE public.platform_activity_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.platform_activity_id_seq OWNED BY public.platform_activity.id;
CREATE TABLE public.platform_collections (
    collection character varying(64) NOT NULL,
    icon character varying(64),
    note text,
    color character varying(255),
    display_template character varying(255),
    hidden boolean DEFAULT false NOT NULL,
    singleton boolean DEFAULT false NOT NULL,
    translations jsonb,
    archive_field character varying(64),
    archive_value character varying(255),
    unarchive_value character varying(255),
    archive_app_filter boolean DEFAULT true NOT NULL,
    sort_field character varying(64),
    accountability character varying(255) DEFAULT 'all'::character varying,
    item_duplication_fields jsonb,
    sort integer,
    "group" character varying(64),
    collapse character varying(255) DEFAULT 'open'::character varying NOT NULL
);
COMMENT ON TABLE public.platform_collections IS 'system collection';
CREATE TABLE public.platform_comments (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    collection character varying(64) NOT NULL,
    item character varying(255) NOT NULL,
    comment text NOT NULL,
    date_created timestamp with time zone DEFAULT now(),
    date_updated timestamp with time zone,
    user_created uuid,
    user_updated uuid
);
COMMENT ON TABLE public.platform_comments IS 'system collection';
CREATE TABLE public.platform_dashboards (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name character varying(255) NOT NULL,
    icon character varying(64) DEFAULT 'dashboard'::character varying,
    note text,
    color character varying(255),
    date_created timestamp with time zone DEFAULT now(),
    user_created uuid
);
COMMENT ON TABLE public.platform_dashboards IS 'system collection';
CREATE TABLE public.platform_extension_grants (
    name text NOT NULL,
    version text NOT NULL,
    asked json NOT NULL,
    agreed_by uuid,
    agreed_on timestamp with time zone DEFAULT now() NOT NULL,
    places uuid[] DEFAULT '{}'::uuid[] NOT NULL
);
CREATE TABLE public.platform_extension_requirements (
    name text NOT NULL,
    place uuid NOT NULL,
    decision boolean,
    declared boolean NOT NULL,
    filters text[]
);
CREATE TABLE public.platform_extension_settings (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    extension character varying(255) NOT NULL,
    scope character varying(16) NOT NULL,
    scope_key character varying(255) DEFAULT ''::character varying NOT NULL,
    key character varying(64) NOT NULL,
    value text NOT NULL
);
COMMENT ON TABLE public.platform_extension_settings IS 'system collection';
CREATE TABLE public.platform_extension_ticks (
    schedule text NOT NULL,
    tick timestamp with time zone NOT NULL
);
CREATE TABLE public.platform_fields (
    id integer NOT NULL,
    collection character varying(64) NOT NULL,
    field character varying(64) NOT NULL,
    special text,
    interface character varying(64),
    options jsonb,
    display character varying(64),
    display_options jsonb,
    readonly boolean DEFAULT false NOT NULL,
    hidden boolean DEFAULT false NOT NULL,
    required boolean DEFAULT false NOT NULL,
    sort integer,
    width character varying(30) DEFAULT 'full'::character varying,
    "group" character varying(64),
    translations jsonb,
    note text,
    conditions jsonb,
    validation jsonb,
    validation_message text,
    searchable boolean DEFAULT true NOT NULL
);
COMMENT ON TABLE public.platform_fields IS 'system collection';
CREATE SEQUENCE public.platform_fields_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.platform_fields_id_seq OWNED BY public.platform_fields.id;
CREATE TABLE public.platform_files (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    storage character varying(255) DEFAULT 'local'::character varying NOT NULL,
    filename_disk character varying(255),
    filename_download character varying(255) DEFAULT 'file'::character varying NOT NULL,
    title character varying(255),
    type character varying(255),
    detected_type character varying(255),
    folder uuid,
    uploaded_by uuid,
    created_on timestamp with time zone,
    uploaded_on timestamp with time zone,
    modified_by uuid,
    modified_on timestamp with time zone,
    charset character varying(50),
    filesize bigint,
    width integer,
    height integer,
    duration integer,
    embed character varying(200),
    description text,
    location text,
    tags jsonb,
    metadata jsonb,
    focal_point_x integer,
    focal_point_y integer
);
COMMENT ON TABLE public.platform_files IS 'system collection';
CREATE TABLE public.platform_folders (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    name character varying(255) NOT NULL,
    parent uuid
);
COMMENT ON TABLE public.platform_folders IS 'system collection';
CREATE TABLE public.platform_loose_objects (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    storage character varying(255) NOT NULL,
    name character varying(255) NOT NULL,
    writer uuid,
    since timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE public.platform_loose_objects IS 'system collection';
CREATE TABLE public.platform_migrations (
    owner text NOT NULL,
    id text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE public.platform_notifications (
    id integer NOT NULL,
    "timestamp" timestamp with time zone DEFAULT now() NOT NULL,
    status character varying(255) DEFAULT 'inbox'::character varying NOT NULL,
    recipient uuid NOT NULL,
    sender uuid,
    subject character varying(255) NOT NULL,
    message text,
    collection character varying(64),
    item character varying(255)
);
COMMENT ON TABLE public.platform_notifications IS 'system collection';
CREATE SEQUENCE public.platform_notifications_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.platform_notifications_id_seq OWNED BY public.platform_notifications.id;
CREATE TABLE public.platform_panels (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    dashboard uuid NOT NULL,
    name character varying(255),
    icon character varying(64),
    color character varying(255),
    show_header boolean DEFAULT false NOT NULL,
    note text,
    type character varying(255) NOT NULL,
    position_x integer NOT NULL,
    position_y integer NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    options jsonb,
    date_created timestamp with time zone DEFAULT now(),
    user_created uuid
);
COMMENT ON TABLE public.platform_panels IS 'system collection';
CREATE TABLE public.platform_permissions (
    id integer NOT NULL,
    role uuid NOT NULL,
    collection character varying(64) NOT NULL,
    action character varying(10) NOT NULL,
    permissions jsonb,
    validation jsonb,
    presets jsonb,
    fields text
);
COMMENT ON TABLE public.platform_permissions IS 'system collection';
CREATE SEQUENCE public.platform_permissions_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.platform_permissions_id_seq OWNED BY public.platform_permissions.id;
CREATE TABLE public.platform_presets (
    id integer NOT NULL,
    bookmark character varying(255),
    "user" uuid,
    role uuid,
    collection character varying(64),
    search character varying(100),
    layout character varying(100) DEFAULT 'tabular'::character varying,
    layout_query jsonb,
    layout_options jsonb,
    refresh_interval integer,
    filter jsonb,
    icon character varying(64) DEFAULT 'bookmark'::character varying,
    color character varying(255)
);
COMMENT ON TABLE public.platform_presets IS 'system collection';
CREATE SEQUENCE public.platform_presets_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.platform_presets_id_seq OWNED BY public.platform_presets.id;
CREATE TABLE public.platform_relations (
    id integer NOT NULL,
    many_collection character varying(64) NOT NULL,
    many_field character varying(64) NOT NULL,
    one_collection character varying(64),
    one_field character varying(64),
    one_collection_field character varying(64),
    one_allowed_collections text,
    junction_field character varying(64),
    sort_field character varying(64),
    one_deselect_action character varying(255) DEFAULT 'nullify'::character varying NOT NULL
);
COMMENT ON TABLE public.platform_relations IS 'system collection';
CREATE SEQUENCE public.platform_relations_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.platform_relations_id_seq OWNED BY public.platform_relations.id;
CREATE TABLE public.platform_revisions (
    id integer NOT NULL,
    activity integer NOT NULL,
    collection character varying(255) NOT NULL,
    item character varying(255) NOT NULL,
    data jsonb,
    delta jsonb,
    parent integer
);
COMMENT ON TABLE public.platform_revisions IS 'system collection';
CREATE SEQUENCE public.platform_revisions_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.platform_revisions_id_seq OWNED BY public.platform_revisions.id;
CREATE TABLE public.platform_roles (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    key character varying(255),
    name character varying(100) NOT NULL,
    icon character varying(64) DEFAULT 'supervised_user_circle'::character varying,
    description text,
    ip_access text,
    enforce_tfa boolean DEFAULT false NOT NULL,
    admin_access boolean DEFAULT false NOT NULL,
    app_access boolean DEFAULT true NOT NULL
);
COMMENT ON TABLE public.platform_roles IS 'system collection';
CREATE TABLE public.platform_secrets (
    name character varying(64) NOT NULL,
    value text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL
);
COMMENT ON TABLE public.platform_secrets IS 'system collection';
CREATE TABLE public.platform_sessions (
    token character varying(64) NOT NULL,
    "user" uuid,
    share uuid,
    expires timestamp with time zone NOT NULL,
    ip character varying(255),
    user_agent character varying(255),
    origin character varying(255)
);
COMMENT ON TABLE public.platform_sessions IS 'system collection';
CREATE TABLE public.platform_settings (
    id integer DEFAULT 1 NOT NULL,
    project_name character varying(100) DEFAULT 'Tenon'::character varying,
    project_descriptor character varying(100),
    project_url character varying(255),
    project_color character varying(50),
    project_logo uuid,
    public_foreground uuid,
    public_background uuid,
    public_favicon uuid,
    public_note text,
    default_language character varying(255) DEFAULT 'en-US'::character varying,
    default_appearance character varying(255) DEFAULT 'auto'::character varying,
    default_theme_light character varying(255),
    default_theme_dark character varying(255),
    theme_light_overrides jsonb,
    theme_dark_overrides jsonb,
    auth_password_policy character varying(100),
    auth_login_attempts integer DEFAULT 25,
    storage_asset_transform character varying(255) DEFAULT 'all'::character varying,
    storage_asset_presets jsonb,
    storage_default_folder uuid,
    map_key character varying(255),
    basemaps jsonb,
    module_bar jsonb,
    custom_css text,
    custom_aspect_ratios jsonb
);
COMMENT ON TABLE public.platform_settings IS 'system collection';
CREATE TABLE public.platform_sign_in_attempts (
    "user" uuid NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    pending integer DEFAULT 0 NOT NULL,
    at timestamp with time zone NOT NULL
);
COMMENT ON TABLE public.platform_sign_in_attempts IS 'system collection';
CREATE TABLE public.platform_storage_places (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    process uuid NOT NULL,
    location character varying(64) NOT NULL,
    place character varying(255) NOT NULL,
    name text NOT NULL
);
COMMENT ON TABLE public.platform_storage_places IS 'system collection';
CREATE TABLE public.platform_translations (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    key character varying(255) NOT NULL,
    language character varying(255) NOT NULL,
    value text NOT NULL
);
COMMENT ON TABLE public.platform_translations IS 'system collection';
CREATE TABLE public.platform_upload_pieces (
    name character varying(255) NOT NULL,
    upload uuid NOT NULL,
    start bigint NOT NULL,
    size bigint
);
COMMENT ON TABLE public.platform_upload_pieces IS 'system collection';
CREATE TABLE public.platform_uploads (
    id uuid NOT NULL,
    "user" uuid,
    storage character varying(255) NOT NULL,
    metadata text NOT NULL,
    size bigint,
    received bigint DEFAULT 0 NOT NULL,
    replaces uuid,
    completed boolean DEFAULT false NOT NULL,
    expires timestamp with time zone NOT NULL
);
COMMENT ON TABLE public.platform_uploads IS 'system collection';
CREATE TABLE public.platform_users (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    first_name character varying(50),
    last_name character varying(50),
    email character varying(128),
    password character varying(255),
    location character varying(255),
    title character varying(50),
    description text,
    tags jsonb,
    avatar uuid,
    language character varying(255),
    theme character varying(20) DEFAULT 'auto'::character varying,
    appearance character varying(20),
    theme_light character varying(255),
    theme_dark character varying(255),
    theme_light_overrides jsonb,
    theme_dark_overrides jsonb,
    email_notifications boolean DEFAULT true NOT NULL,
    status character varying(16) DEFAULT 'active'::character varying NOT NULL,
    role uuid,
    token character varying(255),
    tfa_secret character varying(255),
    provider character varying(128) DEFAULT 'default'::character varying NOT NULL,
    external_identifier character varying(255),
    auth_data jsonb,
    last_access timestamp with time zone,
    last_page character varying(255)
);
COMMENT ON TABLE public.platform_users IS 'system collection';
ALTER TABLE ONLY public.platform_activity ALTER COLUMN id SET DEFAULT nextval('public.platform_activity_id_seq'::regclass);
ALTER TABLE ONLY public.platform_fields ALTER COLUMN id SET DEFAULT nextval('public.platform_fields_id_seq'::regclass);
ALTER TABLE ONLY public.platform_notifications ALTER COLUMN id SET DEFAULT nextval('public.platform_notifications_id_seq'::regclass);
ALTER TABLE ONLY public.platform_permissions ALTER COLUMN id SET DEFAULT nextval('public.platform_permissions_id_seq'::regclass);
ALTER TABLE ONLY public.platform_presets ALTER COLUMN id SET DEFAULT nextval('public.platform_presets_id_seq'::regclass);
ALTER TABLE ONLY public.platform_relations ALTER COLUMN id SET DEFAULT nextval('public.platform_relations_id_seq'::regclass);
ALTER TABLE ONLY public.platform_revisions ALTER COLUMN id SET DEFAULT nextval('public.platform_revisions_id_seq'::regclass);
INSERT INTO public.platform_files VALUES ('11111111-1111-4111-8111-111111111111', 'local', '11111111-1111-4111-8111-111111111111.txt', 'a.txt', NULL, 'text/plain', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.platform_loose_objects VALUES ('2b422aa1-b4f4-429c-84ad-b55d052145ce', 'elsewhere', 'left-behind.txt', NULL, '2026-01-01 00:00:00+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/schedule', '2026-11-21-extension-ticks', '2026-11-23 22:23:45.219724+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/schema', 'system-collections-246bb778f25e', '2026-11-23 22:23:45.233498+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/access', '2026-11-21-announce-changes', '2026-11-23 22:23:46.01263+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/access', '2026-11-21-derive-role-keys', '2026-11-23 22:23:46.136975+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/settings', '2026-11-22-announce-settings', '2026-11-23 22:23:46.244108+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/auth', '2026-11-21-announce-standing', '2026-11-23 22:23:46.278838+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/auth', '2026-11-23-announce-token-owners', '2026-11-23 22:23:46.323687+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/folders', '2026-11-21-keep-tree', '2026-11-23 22:23:46.340677+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/files', '2026-11-22-note-let-go', '2026-11-23 22:23:46.353352+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/assets', '2026-11-22-announce-files', '2026-11-23 22:23:46.456466+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/extensions-consent', '2026-11-21-extension-grants', '2026-11-23 22:23:46.458635+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/extensions-consent', '2026-11-21-extension-grant-places', '2026-11-23 22:23:46.482293+00');
INSERT INTO public.platform_migrations VALUES ('@tenon/extensions-required', '2026-11-22-extension-requirements', '2026-11-23 22:23:46.485945+00');
INSERT INTO public.platform_roles VALUES ('00000000-0000-0000-0000-000000000000', 'public', 'Public', 'public', 'What anybody may do without signing in', NULL, false, false, false);
INSERT INTO public.platform_roles VALUES ('59b26930-2a9d-4d3f-97f8-2d4211c14480', 'administrator', 'Administrator', 'verified', 'May do everything', NULL, false, true, true);
INSERT INTO public.platform_users VALUES ('c84e4ed3-ca72-45e2-bba1-923cac4f3ea3', 'Admin', 'User', 'admin@example.com', '$argon2id$v=19$m=1024,p=1,t=2$tV4ogkhwpS8oRwcB0aQM3Q$M6Cnp4UxIJw/pYXm+jtDF6WntcK3VJmedl7kUiXfjhc', NULL, NULL, NULL, NULL, NULL, NULL, 'auto', NULL, NULL, NULL, NULL, NULL, true, 'active', '59b26930-2a9d-4d3f-97f8-2d4211c14480', NULL, NULL, 'default', NULL, NULL, NULL, NULL);
SELECT pg_catalog.setval('public.platform_activity_id_seq', 1, false);
SELECT pg_catalog.setval('public.platform_fields_id_seq', 1, false);
SELECT pg_catalog.setval('public.platform_notifications_id_seq', 1, false);
SELECT pg_catalog.setval('public.platform_permissions_id_seq', 1, false);
SELECT pg_catalog.setval('public.platform_presets_id_seq', 1, false);
SELECT pg_catalog.setval('public.platform_relations_id_seq', 1, false);
SELECT pg_catalog.setval('public.platform_revisions_id_seq', 1, false);
ALTER TABLE ONLY public.platform_activity
    ADD CONSTRAINT platform_activity_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_collections
    ADD CONSTRAINT platform_collections_pkey PRIMARY KEY (collection);
ALTER TABLE ONLY public.platform_comments
    ADD CONSTRAINT platform_comments_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_dashboards
    ADD CONSTRAINT platform_dashboards_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_extension_grants
    ADD CONSTRAINT platform_extension_grants_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.platform_extension_requirements
    ADD CONSTRAINT platform_extension_requirements_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.platform_extension_settings
    ADD CONSTRAINT platform_extension_settings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_extension_ticks
    ADD CONSTRAINT platform_extension_ticks_pkey PRIMARY KEY (schedule);
ALTER TABLE ONLY public.platform_fields
    ADD CONSTRAINT platform_fields_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_files
    ADD CONSTRAINT platform_files_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_folders
    ADD CONSTRAINT platform_folders_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_loose_objects
    ADD CONSTRAINT platform_loose_objects_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_migrations
    ADD CONSTRAINT platform_migrations_pkey PRIMARY KEY (owner, id);
ALTER TABLE ONLY public.platform_notifications
    ADD CONSTRAINT platform_notifications_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_panels
    ADD CONSTRAINT platform_panels_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_permissions
    ADD CONSTRAINT platform_permissions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_presets
    ADD CONSTRAINT platform_presets_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_relations
    ADD CONSTRAINT platform_relations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_revisions
    ADD CONSTRAINT platform_revisions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_roles
    ADD CONSTRAINT platform_roles_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_secrets
    ADD CONSTRAINT platform_secrets_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.platform_sessions
    ADD CONSTRAINT platform_sessions_pkey PRIMARY KEY (token);
ALTER TABLE ONLY public.platform_settings
    ADD CONSTRAINT platform_settings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_sign_in_attempts
    ADD CONSTRAINT platform_sign_in_attempts_pkey PRIMARY KEY ("user");
ALTER TABLE ONLY public.platform_storage_places
    ADD CONSTRAINT platform_storage_places_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_translations
    ADD CONSTRAINT platform_translations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_upload_pieces
    ADD CONSTRAINT platform_upload_pieces_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.platform_uploads
    ADD CONSTRAINT platform_uploads_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.platform_users
    ADD CONSTRAINT platform_users_pkey PRIMARY KEY (id);
CREATE INDEX platform_activity_collection_item_index ON public.platform_activity USING btree (collection, item);
CREATE INDEX platform_activity_timestamp_index ON public.platform_activity USING btree ("timestamp");
CREATE INDEX platform_comments_user_created_index ON public.platform_comments USING btree (user_created, id);
CREATE INDEX platform_comments_user_updated_index ON public.platform_comments USING btree (user_updated, id);
CREATE INDEX platform_dashboards_user_created_index ON public.platform_dashboards USING btree (user_created, id);
CREATE UNIQUE INDEX platform_extension_settings_extension_scope_scope_ke_c533997752 ON public.platform_extension_settings USING btree (extension, scope, scope_key, key);
CREATE UNIQUE INDEX platform_fields_collection_field_unique ON public.platform_fields USING btree (collection, field);
CREATE INDEX platform_files_folder_index ON public.platform_files USING btree (folder, id);
CREATE INDEX platform_files_modified_by_index ON public.platform_files USING btree (modified_by, id);
CREATE INDEX platform_files_storage_filename_disk_index ON public.platform_files USING btree (storage, filename_disk);
CREATE INDEX platform_files_uploaded_by_index ON public.platform_files USING btree (uploaded_by, id);
CREATE INDEX platform_folders_parent_index ON public.platform_folders USING btree (parent, id);
CREATE INDEX platform_loose_objects_writer_since_index ON public.platform_loose_objects USING btree (writer, since);
CREATE INDEX platform_notifications_recipient_index ON public.platform_notifications USING btree (recipient, id);
CREATE INDEX platform_notifications_sender_index ON public.platform_notifications USING btree (sender, id);
CREATE INDEX platform_panels_dashboard_index ON public.platform_panels USING btree (dashboard, id);
CREATE INDEX platform_panels_user_created_index ON public.platform_panels USING btree (user_created, id);
CREATE UNIQUE INDEX platform_permissions_role_collection_action_unique ON public.platform_permissions USING btree (role, collection, action);
CREATE INDEX platform_permissions_role_index ON public.platform_permissions USING btree (role, id);
CREATE INDEX platform_presets_role_index ON public.platform_presets USING btree (role, id);
CREATE INDEX platform_presets_user_index ON public.platform_presets USING btree ("user", id);
CREATE UNIQUE INDEX platform_relations_many_collection_many_field_unique ON public.platform_relations USING btree (many_collection, many_field);
CREATE INDEX platform_revisions_activity_index ON public.platform_revisions USING btree (activity, id);
CREATE INDEX platform_revisions_collection_item_index ON public.platform_revisions USING btree (collection, item);
CREATE UNIQUE INDEX platform_roles_key_unique ON public.platform_roles USING btree (key);
CREATE INDEX platform_sessions_user_index ON public.platform_sessions USING btree ("user", token);
CREATE INDEX platform_settings_project_logo_index ON public.platform_settings USING btree (project_logo, id);
CREATE INDEX platform_settings_public_background_index ON public.platform_settings USING btree (public_background, id);
CREATE INDEX platform_settings_public_favicon_index ON public.platform_settings USING btree (public_favicon, id);
CREATE INDEX platform_settings_public_foreground_index ON public.platform_settings USING btree (public_foreground, id);
CREATE INDEX platform_settings_storage_default_folder_index ON public.platform_settings USING btree (storage_default_folder, id);
CREATE INDEX platform_sign_in_attempts_user_index ON public.platform_sign_in_attempts USING btree ("user", "user");
CREATE UNIQUE INDEX platform_storage_places_process_location_unique ON public.platform_storage_places USING btree (process, location);
CREATE UNIQUE INDEX platform_translations_key_language_unique ON public.platform_translations USING btree (key, language);
CREATE INDEX platform_upload_pieces_upload_index ON public.platform_upload_pieces USING btree (upload, name);
CREATE INDEX platform_uploads_expires_index ON public.platform_uploads USING btree (expires);
CREATE INDEX platform_users_avatar_index ON public.platform_users USING btree (avatar, id);
CREATE UNIQUE INDEX platform_users_email_unique ON public.platform_users USING btree (lower((email)::text));
CREATE UNIQUE INDEX platform_users_external_identifier_unique ON public.platform_users USING btree (external_identifier);
CREATE INDEX platform_users_role_index ON public.platform_users USING btree (role, id);
CREATE UNIQUE INDEX platform_users_token_unique ON public.platform_users USING btree (token);
CREATE TRIGGER platform_access_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.platform_permissions FOR EACH STATEMENT EXECUTE FUNCTION public.platform_access_changed();
CREATE TRIGGER platform_access_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.platform_roles FOR EACH STATEMENT EXECUTE FUNCTION public.platform_access_changed();
CREATE TRIGGER platform_assets_changed AFTER DELETE OR UPDATE OR TRUNCATE ON public.platform_files FOR EACH STATEMENT EXECUTE FUNCTION public.platform_assets_changed();
CREATE TRIGGER platform_files_let_go_delete AFTER DELETE ON public.platform_files FOR EACH ROW WHEN ((old.filename_disk IS NOT NULL)) EXECUTE FUNCTION public.platform_files_let_go();
CREATE TRIGGER platform_files_let_go_truncate BEFORE TRUNCATE ON public.platform_files FOR EACH STATEMENT EXECUTE FUNCTION public.platform_files_let_go();
CREATE TRIGGER platform_files_let_go_update AFTER UPDATE ON public.platform_files FOR EACH ROW WHEN (((old.filename_disk IS NOT NULL) AND ((old.filename_disk)::text IS DISTINCT FROM (new.filename_disk)::text))) EXECUTE FUNCTION public.platform_files_let_go();
CREATE TRIGGER platform_folders_tree AFTER INSERT OR UPDATE OF parent ON public.platform_folders FOR EACH ROW WHEN ((new.parent IS NOT NULL)) EXECUTE FUNCTION public.platform_folders_tree();
CREATE TRIGGER platform_folders_tree_lock BEFORE INSERT OR UPDATE OF parent ON public.platform_folders FOR EACH STATEMENT EXECUTE FUNCTION public.platform_folders_tree();
CREATE TRIGGER platform_role_key BEFORE INSERT ON public.platform_roles FOR EACH ROW EXECUTE FUNCTION public.platform_role_key();
CREATE TRIGGER platform_settings_changed AFTER INSERT OR DELETE OR UPDATE OR TRUNCATE ON public.platform_settings FOR EACH STATEMENT EXECUTE FUNCTION public.platform_settings_changed();
CREATE TRIGGER platform_standing_changed AFTER DELETE OR UPDATE OF status, token, role OR TRUNCATE ON public.platform_users FOR EACH STATEMENT EXECUTE FUNCTION public.platform_standing_changed();
ALTER TABLE ONLY public.platform_comments
    ADD CONSTRAINT platform_comments_user_created_foreign FOREIGN KEY (user_created) REFERENCES public.platform_users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_comments
    ADD CONSTRAINT platform_comments_user_updated_foreign FOREIGN KEY (user_updated) REFERENCES public.platform_users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_dashboards
    ADD CONSTRAINT platform_dashboards_user_created_foreign FOREIGN KEY (user_created) REFERENCES public.platform_users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_files
    ADD CONSTRAINT platform_files_folder_foreign FOREIGN KEY (folder) REFERENCES public.platform_folders(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_files
    ADD CONSTRAINT platform_files_modified_by_foreign FOREIGN KEY (modified_by) REFERENCES public.platform_users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_files
    ADD CONSTRAINT platform_files_uploaded_by_foreign FOREIGN KEY (uploaded_by) REFERENCES public.platform_users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_folders
    ADD CONSTRAINT platform_folders_parent_foreign FOREIGN KEY (parent) REFERENCES public.platform_folders(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_notifications
    ADD CONSTRAINT platform_notifications_recipient_foreign FOREIGN KEY (recipient) REFERENCES public.platform_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_notifications
    ADD CONSTRAINT platform_notifications_sender_foreign FOREIGN KEY (sender) REFERENCES public.platform_users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_panels
    ADD CONSTRAINT platform_panels_dashboard_foreign FOREIGN KEY (dashboard) REFERENCES public.platform_dashboards(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_panels
    ADD CONSTRAINT platform_panels_user_created_foreign FOREIGN KEY (user_created) REFERENCES public.platform_users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_permissions
    ADD CONSTRAINT platform_permissions_role_foreign FOREIGN KEY (role) REFERENCES public.platform_roles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_presets
    ADD CONSTRAINT platform_presets_role_foreign FOREIGN KEY (role) REFERENCES public.platform_roles(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_presets
    ADD CONSTRAINT platform_presets_user_foreign FOREIGN KEY ("user") REFERENCES public.platform_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_sessions
    ADD CONSTRAINT platform_sessions_user_foreign FOREIGN KEY ("user") REFERENCES public.platform_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_settings
    ADD CONSTRAINT platform_settings_project_logo_foreign FOREIGN KEY (project_logo) REFERENCES public.platform_files(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_settings
    ADD CONSTRAINT platform_settings_public_background_foreign FOREIGN KEY (public_background) REFERENCES public.platform_files(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_settings
    ADD CONSTRAINT platform_settings_public_favicon_foreign FOREIGN KEY (public_favicon) REFERENCES public.platform_files(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_settings
    ADD CONSTRAINT platform_settings_public_foreground_foreign FOREIGN KEY (public_foreground) REFERENCES public.platform_files(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_settings
    ADD CONSTRAINT platform_settings_storage_default_folder_foreign FOREIGN KEY (storage_default_folder) REFERENCES public.platform_folders(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_sign_in_attempts
    ADD CONSTRAINT platform_sign_in_attempts_user_foreign FOREIGN KEY ("user") REFERENCES public.platform_users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_upload_pieces
    ADD CONSTRAINT platform_upload_pieces_upload_foreign FOREIGN KEY (upload) REFERENCES public.platform_uploads(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.platform_users
    ADD CONSTRAINT platform_users_avatar_foreign FOREIGN KEY (avatar) REFERENCES public.platform_files(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.platform_users
    ADD CONSTRAINT platform_users_role_foreign FOREIGN KEY (role) REFERENCES public.platform_roles(id) ON DELETE SET NULL;
