select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select translate(encode(t2.g0, 'base64'), e'\n', '') as "bytes" from (select t1."bytes" as g0 from "public"."thing" t1 group by 1 order by 1 limit 100) t2) r
-- []
