select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", translate(encode(t1."bytes", 'base64'), e'\n', '') as "bytes" from "public"."thing" t1 order by t1."id" limit 100) r
-- []
