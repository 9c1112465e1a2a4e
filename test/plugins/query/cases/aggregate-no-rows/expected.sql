select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.f0 as "count", (select row_to_json(x.*) from (select t2.f1::text as "price") x) as "sum" from (select count(*) as f0, sum(t1."price") as f1 from "public"."book" t1 where (t1."id" = $1::int8)) t2) r
-- ["99"]
