select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select (select row_to_json(x.*) from (select t2.f0 as "*") x) as "countDistinct", (select row_to_json(x.*) from (select t2.f1 as "film") x) as "count" from (select count(*) as f0, count(t1."film") as f1 from "public"."role" t1) t2) r
-- []
