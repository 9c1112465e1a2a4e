select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."thing" t1 order by case when t1."list" is not null then coalesce(array_length(t1."list", 1), 0) end desc, t1."id" limit 100) r
-- []
