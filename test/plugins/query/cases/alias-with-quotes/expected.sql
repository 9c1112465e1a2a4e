select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as """; drop table x; --", t1."title" as "it's", t1."price"::text as "back\slash", t1."ok" as "日本" from "public"."book" t1 order by t1."id" limit 1) r
-- []
